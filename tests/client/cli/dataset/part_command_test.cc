// packtrain import ... -o PART, and the join of parts.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/run_line.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

constexpr int kParts = 10;

class PartCommandTest : public ::testing::Test {
 protected:
  // Molecules of 1 to 6 atoms, `count` of them from number `first` on.
  std::string WriteMolecules(const std::string& name, int first, int count) {
    std::string text;
    for (int k = first; k < first + count; ++k) {
      const int atoms = 1 + k % 6;
      absl::StrAppend(&text, atoms, "\nid=m", k, " e=", -0.5 * k, " gap=", 0.25 * k, "\n");
      for (int atom = 0; atom < atoms; ++atom) {
        absl::StrAppend(&text, "C ", atom * 1.1, " ", (k * 7 + atom) % 5 * 0.3, " ", k % 3 * 0.2, "\n");
      }
    }
    return folder_.Write(name, text);
  }

  std::vector<std::string> WriteSources() {
    std::vector<std::string> files;
    for (int part = 0; part < kParts; ++part) {
      files.push_back(WriteMolecules(absl::StrCat("source", part, ".xyz"), part * 30, 30));
    }
    return files;
  }

  // Without a server.
  std::string MakePart(const std::string& source, const std::vector<std::string>& flags) {
    std::string part = source + ".packtrain";
    std::vector<std::string> line = {"import", "extxyz", source, "-o", part, "--json"};
    line.insert(line.end(), flags.begin(), flags.end());
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    EXPECT_EQ(printed.Json()["part"], part);
    EXPECT_EQ(printed.Json()["bytes"], std::filesystem::file_size(part));
    return part;
  }

  Printed Import(const std::string& format, const std::vector<std::string>& files,
                 const std::vector<std::string>& flags) {
    std::vector<std::string> line = {"import", format, "--server", server_->address(), "--json"};
    line.insert(line.end(), flags.begin(), flags.end());
    line.insert(line.end(), files.begin(), files.end());
    return RunLine(line);
  }

  testing::TempFolder folder_;
  const std::unique_ptr<TestServer> server_ = TestServer::Start().value();
};

TEST_F(PartCommandTest, TenPartsJoinedAreTheVersionOfOneImport) {
  const std::vector<std::string> sources = WriteSources();
  for (const char* edges : {"full", "radius:2", "knn:3"}) {
    std::vector<std::string> parts;
    for (const std::string& source : sources) parts.push_back(MakePart(source, {"--edges", edges}));
    const std::vector<std::string> split = {"--split-permille", "800,100,100", "--split-seed", "7"};
    std::vector<std::string> one = split, joined = split;
    one.insert(one.end(), {"--name", "one", "--edges", edges});
    joined.insert(joined.end(), {"--name", "joined"});
    const Printed imported = Import("extxyz", sources, one);
    const Printed join = Import("native", parts, joined);
    ASSERT_EQ(join.exit_code, 0) << join.out << join.err;
    EXPECT_EQ(join.Json()["version"], imported.Json()["version"]) << edges;
    EXPECT_EQ(join.Json()["stored"], kParts * 30);
  }
}

TEST_F(PartCommandTest, OrderOfTheArgumentsIsThatOfTheGraphs) {
  const std::string a = WriteMolecules("a.xyz", 0, 30), b = WriteMolecules("b.xyz", 30, 30);
  const std::vector<std::string> backwards = {MakePart(b, {}), MakePart(a, {})};
  EXPECT_EQ(Import("native", backwards, {"--name", "joined"}).Json()["version"],
            Import("extxyz", {b, a}, {"--name", "one"}).Json()["version"]);
}

TEST_F(PartCommandTest, TargetsOfAJoinAreThoseOfOneImport) {
  const std::string a = folder_.Write("a.xyz", "1\nid=a e=1 gap=2\nC 1 2 3\n1\nid=b e=1 gap=3 mu=1\nH 1 2 3\n");
  const std::string b = folder_.Write("b.xyz", "1\nid=c gap=4 homo=1\nC 1 2 3\n");
  for (const char* missing : {"refuse", "nan"}) {
    const std::vector<std::string> parts = {MakePart(a, {"--missing-target", missing}),
                                            MakePart(b, {"--missing-target", missing})};
    const Printed joined = Import("native", parts, {"--name", "joined", "--missing-target", missing});
    ASSERT_EQ(joined.exit_code, 0) << joined.out << joined.err;
    EXPECT_EQ(joined.Json()["version"],
              Import("extxyz", {a, b}, {"--name", "one", "--missing-target", missing}).Json()["version"])
        << missing;
  }
}

TEST_F(PartCommandTest, IdsThatPartsShareAreRefusedOrNumberedByTheJoin) {
  const std::string part = MakePart(WriteMolecules("a.xyz", 0, 3), {});
  const Printed refused = Import("native", {part, part}, {"--name", "twice"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.Json()["error"]["message"].get<std::string>(), HasSubstr("m0"));
  const Printed numbered = Import("native", {part, part}, {"--name", "twice", "--duplicate-ids", "number"});
  EXPECT_EQ(numbered.Json()["stored"], 6) << numbered.out;
}

TEST_F(PartCommandTest, RefusedGraphsAreLeftOutOfThePart) {
  const std::string source =
      folder_.Write("bad.xyz", "1\nid=a\nC 1 2 3\n1\nid=b\nC nan 2 3\n1\nid=a\nC 1 2 3\n");
  const std::string part = folder_.PathOf("part"), ledger = folder_.PathOf("ledger");
  const Printed stopped = RunLine({"import", "extxyz", source, "-o", part, "--json"});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(part));
  const Printed printed =
      RunLine({"import", "extxyz", source, "-o", part, "--on-error", "skip", "--ledger", ledger, "--json"});
  EXPECT_EQ(printed.exit_code, 4) << printed.out << printed.err;
  EXPECT_EQ(printed.Json()["stored"], 1);
  EXPECT_EQ(printed.Json()["refused_by_reason"]["not_finite"], 1);
  EXPECT_EQ(printed.Json()["refused_by_reason"]["duplicate_id"], 1);
  EXPECT_THAT(testing::ReadFile(ledger), HasSubstr("not_finite"));
}

}  // namespace
}  // namespace packtrain::cli
