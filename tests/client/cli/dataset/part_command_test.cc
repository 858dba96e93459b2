// packtrain import ... -o PART, and the join of parts.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/line_reader.h"
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

  // The lines of a file of the test data.
  static std::vector<std::string> LinesOf(const std::string& path) {
    const std::unique_ptr<ingest::LineReader> reader =
        ingest::LineReader::Open(std::string(PACKTRAIN_TEST_DATA) + path, {}).value();
    std::vector<std::string> lines;
    for (std::string_view line; reader->Next(&line).value();) lines.emplace_back(line);
    return lines;
  }

  // Ten files, or as many as there are records.
  std::vector<std::string> WriteTenFiles(const std::string& ending, const std::vector<std::string>& records) {
    std::vector<std::string> files;
    const std::size_t count = std::min<std::size_t>(kParts, records.size());
    for (std::size_t file = 0; file < count; ++file) {
      std::string text;
      for (std::size_t k = file * records.size() / count; k < (file + 1) * records.size() / count; ++k) {
        text += records[k];
      }
      files.push_back(folder_.Write(absl::StrCat("file", file, ending), text));
    }
    return files;
  }

  std::vector<std::string> WriteSources() {
    std::vector<std::string> files;
    for (int part = 0; part < kParts; ++part) {
      files.push_back(WriteMolecules(absl::StrCat("source", part, ".xyz"), part * 30, 30));
    }
    return files;
  }

  // Without a server.
  std::string MakePart(const std::string& source, const std::vector<std::string>& flags,
                       const std::string& format = "extxyz") {
    std::string part = source + ".packtrain";
    std::vector<std::string> line = {"import", format, source, "-o", part, "--json"};
    line.insert(line.end(), flags.begin(), flags.end());
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    EXPECT_EQ(printed.Json()["part"], part);
    EXPECT_EQ(printed.Json()["bytes"], std::filesystem::file_size(part));
    return part;
  }

  // Imports files as one data set, and as parts that are joined; the version must be the same.
  void ExpectSameVersion(const std::string& format, const std::vector<std::string>& files,
                         const std::vector<std::string>& flags = {}) {
    std::vector<std::string> parts, one = {"--name", "one"}, joined = {"--name", "joined"};
    for (const std::string& file : files) parts.push_back(MakePart(file, flags, format));
    one.insert(one.end(), flags.begin(), flags.end());
    const Printed imported = Import(format, files, one);
    ASSERT_EQ(imported.exit_code, 0) << imported.out << imported.err;
    const auto missing = std::ranges::find(flags, "--missing-target");
    if (missing != flags.end()) joined.insert(joined.end(), missing, missing + 2);
    const Printed join = Import("native", parts, joined);
    ASSERT_EQ(join.exit_code, 0) << join.out << join.err;
    EXPECT_EQ(join.Json()["version"], imported.Json()["version"]);
    EXPECT_EQ(join.Json()["stored"], imported.Json()["stored"]);
    EXPECT_EQ(Show("joined")["vocabularies"], Show("one")["vocabularies"]);
    EXPECT_EQ(Show("joined")["classes"], Show("one")["classes"]);
  }

  nlohmann::json Show(const std::string& name) {
    return RunLine({"dataset", "show", name, "--server", server_->address(), "--json"}).Json();
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

TEST_F(PartCommandTest, TenPartsOfMoleculesAreTheVersionOfOneImport) {
  const std::vector<std::string> lines = LinesOf("/qm9/qm9_sample.xyz.gz");
  std::vector<std::string> frames;
  for (std::size_t at = 0; at < lines.size() && frames.size() < 300;) {
    const std::size_t end = at + 2 + std::stoul(lines[at]);
    std::string& frame = frames.emplace_back(lines[at] + "\n");
    absl::StrAppend(&frame, lines[at + 1], " e=-", frames.size() % 7, ".25\n");
    for (at += 2; at < end; ++at) absl::StrAppend(&frame, lines[at], "\n");
  }
  ExpectSameVersion("extxyz", WriteTenFiles(".xyz", frames), {"--edges", "knn:5"});
}

TEST_F(PartCommandTest, TenPartsOfProgramsAreTheVersionOfOneImport) {
  std::vector<std::string> programs;
  for (const std::string& line : LinesOf("/jsonl/great.jsonl.gz")) programs.push_back(line + "\n");
  ASSERT_EQ(programs.size(), 10u);
  ExpectSameVersion("jsonl", WriteTenFiles(".jsonl", programs));
}

TEST_F(PartCommandTest, WordsOfPartsMayBeEqualDisjointOrNone) {
  const auto program = [](const std::string& id, const std::string& tokens, const std::string& type) {
    const std::string edges =
        type.empty() ? R"("senders":[],"receivers":[],"edge_type":[])"
                     : absl::StrCat(R"("senders":[0],"receivers":[0],"edge_type":[")", type, "\"]");
    return absl::StrCat(
        R"({"id":")", id, R"(","schema":{"fields":[{"name":"token","scope":"node","dtype":"i32"},)",
        R"({"name":"edge_type","scope":"edge","dtype":"u8"}],"edge_builder":"program",)",
        R"("words":["token","edge_type"]},"nodes":{"token":[)", tokens, "]},\"edges\":{", edges, "}}\n");
  };
  const std::string equal =
      folder_.Write("equal.jsonl", program("a", R"("x","y")", "next") + program("b", R"("y")", ""));
  const std::string same = folder_.Write("same.jsonl", program("c", R"("y","x","x")", "next"));
  const std::string disjoint = folder_.Write("disjoint.jsonl", program("d", R"("a","z","")", "last"));
  const std::string without_edges = folder_.Write("none.jsonl", program("e", R"("x")", ""));
  ExpectSameVersion("jsonl", {equal, same});
  ExpectSameVersion("jsonl", {equal, disjoint});
  ExpectSameVersion("jsonl", {without_edges, equal});
  ExpectSameVersion("jsonl", {disjoint, without_edges, equal, same});
  const nlohmann::json words = Show("joined")["vocabularies"];
  EXPECT_EQ(words["token"], nlohmann::json::parse(R"({"words":["","a","x","y","z"],"graphs":[1,1,3,3,1]})"));
  EXPECT_EQ(words["edge_type"], nlohmann::json::parse(R"({"words":["last","next"],"graphs":[1,2]})"));
}

TEST_F(PartCommandTest, EdgeTypesThatDoNotFitAreRefusedAsByOneImport) {
  std::vector<std::string> files;
  for (const char* prefix : {"a", "b"}) {
    std::string text;
    for (int k = 0; k < 150; ++k) {
      absl::StrAppend(&text, R"({"id":")", prefix, k, R"(","n_node":1,"edges":{"senders":[0],"receivers":[0],)",
                      R"("edge_type":[")", prefix, 100 + k, "\"]}}\n");
    }
    files.push_back(folder_.Write(absl::StrCat(prefix, ".jsonl"), text));
  }
  const std::vector<std::string> parts = {MakePart(files[0], {}, "jsonl"), MakePart(files[1], {}, "jsonl")};
  const Printed one = Import("jsonl", files, {"--name", "one", "--on-error", "skip"});
  const Printed joined = Import("native", parts, {"--name", "joined", "--on-error", "skip"});
  EXPECT_EQ(joined.exit_code, 4) << joined.out << joined.err;
  EXPECT_EQ(joined.Json()["version"], one.Json()["version"]);
  EXPECT_EQ(joined.Json()["refused_by_reason"], nlohmann::json::parse(R"({"too_many_edge_types":44})"));
  EXPECT_EQ(one.Json()["refused_by_reason"], joined.Json()["refused_by_reason"]);
  const Printed stopped = Import("native", parts, {"--name", "joined"});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_THAT(stopped.Json()["error"]["message"].get<std::string>(),
              HasSubstr("b.jsonl.packtrain: graph 107 (b106): 'edge_type' has more than 256 different texts"));
}

TEST_F(PartCommandTest, RenumberedPartsAreTheVersionOfOneImport) {
  ExpectSameVersion("extxyz", WriteSources(), {"--edges", "knn:3", "--renumber", "rcm"});
  std::vector<std::string> programs;
  for (const std::string& line : LinesOf("/jsonl/great.jsonl.gz")) programs.push_back(line + "\n");
  ExpectSameVersion("jsonl", WriteTenFiles(".jsonl", programs), {"--renumber", "rcm"});
  const nlohmann::json one = Show("one"), joined = Show("joined");
  for (const char* key : {"renumbered", "bandwidth", "bandwidth_as_read", "fields"}) {
    EXPECT_EQ(joined[key], one[key]) << key;
  }
  EXPECT_EQ(joined["lineage"]["renumbered"], "rcm");
}

TEST_F(PartCommandTest, TargetsOfRenumberedPartsThatDifferAreThoseOfOneImport) {
  const std::vector<std::string> files = {
      folder_.Write("a.xyz", "2\nid=a e=1 gap=2\nC 1 2 3\nH 1 2 4\n2\nid=b e=1\nC 1 2 3\nH 2 2 3\n"),
      folder_.Write("b.xyz", "2\nid=c gap=4 e=2\nC 1 2 3\nH 1 2 4\n"),
      folder_.Write("c.xyz", "1\nid=d\nC 1 2 3\n")};
  ExpectSameVersion("extxyz", files, {"--edges", "knn:3", "--renumber", "rcm", "--missing-target", "nan"});
}

TEST_F(PartCommandTest, PartsThatAreRenumberedAndPartsThatAreNotAreNotJoined) {
  const std::string a = MakePart(WriteMolecules("a.xyz", 0, 9), {"--edges", "knn:3"});
  const std::string b = MakePart(WriteMolecules("b.xyz", 9, 9), {"--edges", "knn:3", "--renumber", "rcm"});
  const auto refusal = [&](const std::vector<std::string>& parts) {
    const Printed joined = Import("native", parts, {"--name", "joined"});
    EXPECT_EQ(joined.exit_code, 1) << joined.out;
    return joined.Json()["error"]["message"].get<std::string>();
  };
  EXPECT_THAT(refusal({a, b}), HasSubstr(absl::StrCat(b, ": its nodes are renumbered by rcm, those of ", a,
                                                      " are numbered as they were read")));
  EXPECT_THAT(refusal({b, a}),
              HasSubstr(absl::StrCat(a, ": its nodes are numbered as they were read, those of ", b,
                                     " are renumbered by rcm")));
}

TEST_F(PartCommandTest, BondTypesThatAFormatNamesStayAsTheyAre) {
  ExpectSameVersion("smiles",
                    {folder_.Write("two.smi", "CC=O a\nC#N b\n"), folder_.Write("one.smi", "c1ccoc1 c\n")});
}

TEST_F(PartCommandTest, SplitsOfTheSourcesStayInPartsAndTheirJoin) {
  const auto graph = [](const std::string& id, const std::string& split) {
    const std::string member = split.empty() ? "" : absl::StrCat("\"split\":\"", split, "\",");
    return absl::StrCat("{\"id\":\"", id, "\",", member, "\"nodes\":{\"z\":[6]}}\n");
  };
  const std::vector<std::string> files = {
      folder_.Write("1.jsonl", graph("a", "train") + graph("b", "test") + graph("c", "")),
      folder_.Write("2.jsonl", graph("d", "val") + graph("e", "train"))};
  ExpectSameVersion("jsonl", files);
  EXPECT_EQ(Show("joined")["splits"]["train"]["graphs"], 2);
  const std::string again =
      MakePart(folder_.Write("3.jsonl", graph("a", "test") + graph("f", "val")), {}, "jsonl");
  const std::vector<std::string> parts = {files[0] + ".packtrain", again, files[1] + ".packtrain"};
  const Printed joined = Import("native", parts, {"--name", "three", "--on-error", "skip"});
  EXPECT_EQ(joined.Json()["stored"], 6) << joined.out << joined.err;
  const Printed one =
      Import("jsonl", {files[0], folder_.PathOf("3.jsonl"), files[1]}, {"--name", "one", "--on-error", "skip"});
  EXPECT_EQ(joined.Json()["version"], one.Json()["version"]);
  EXPECT_EQ(Show("three")["splits"]["val"]["graphs"], 2);
  const Printed asked =
      Import("native", parts, {"--name", "asked", "--on-error", "skip", "--split-permille", "500,0,500"});
  EXPECT_EQ(asked.exit_code, 4) << asked.out << asked.err;
  EXPECT_EQ(Show("asked")["splits"]["train"]["graphs"], 3);
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

TEST_F(PartCommandTest, JoinOfPartsWithoutTargetsSaysThatTheyHoldNone) {
  const std::string part = MakePart(folder_.Write("a.xyz", "1\nid=a e=1\nC 1 2 3\n1\nid=b\nH 1 2 3\n"), {});
  const Printed joined =
      RunLine({"import", "native", part, "--name", "joined", "--server", server_->address()});
  EXPECT_THAT(joined.out, HasSubstr("\nno targets: the files hold none\n"));
}

// A number in all graphs of a part and in half of those of the next, which so has no such target.
TEST_F(PartCommandTest, TargetThatAPartLacksIsToldByThePartAndFoundInAllByTargets) {
  const std::string a = folder_.Write("a.xyz", "1\nid=a e=1 gap=2\nC 1 2 3\n1\nid=b e=2 gap=3\nH 1 2 3\n");
  const std::string b = folder_.Write("b.xyz", "1\nid=c e=3 gap=4\nC 1 2 3\n1\nid=d gap=5\nH 1 2 3\n");
  const std::vector<std::string> parts = {MakePart(a, {}), MakePart(b, {})};
  for (const char* missing : {"refuse", "nan"}) {
    const bool used = std::string(missing) == "nan";
    const std::vector<std::string> flags = {"--name", "joined", "--missing-target", missing};
    const Printed joined = Import("native", parts, flags);
    ASSERT_EQ(joined.exit_code, 0) << joined.out << joined.err;
    const nlohmann::json label = joined.Json()["labels"][0];
    EXPECT_EQ(label["name"], "e");
    EXPECT_EQ(label["used"], used);
    EXPECT_EQ(label["lacking_files"], nlohmann::json::array({parts[1]}));
    std::vector<std::string> line = {"import", "native", parts[0], parts[1], "--server", server_->address()};
    line.insert(line.end(), flags.begin(), flags.end());
    const std::string told =
        absl::StrCat("no target of ", parts[1], ": parts that are made with the same --targets");
    EXPECT_THAT(RunLine(line).out, HasSubstr(told));
  }
  const std::vector<std::string> targets = {"--targets", "e,gap", "--missing-target", "nan"};
  ExpectSameVersion("extxyz", {a, b}, targets);
}

// The field of the shifts stands behind that of the targets.
TEST_F(PartCommandTest, TargetsOfCrystalsThatDifferAreThoseOfOneImport) {
  const std::string cell = " Lattice=\"4 0 0 0 4 0 0 0 4\"\nC 1 2 3\n";
  const std::vector<std::string> files = {
      folder_.Write("a.xyz", "1\nid=a e=1 gap=2" + cell + "1\nid=b e=1" + cell),
      folder_.Write("b.xyz", "1\nid=c gap=4 e=2" + cell), folder_.Write("c.xyz", "1\nid=d" + cell)};
  ExpectSameVersion("extxyz", files, {"--edges", "knn:3", "--missing-target", "nan"});
}

TEST_F(PartCommandTest, IdsThatPartsShareAreRefusedOrNumberedByTheJoin) {
  const std::string part = MakePart(WriteMolecules("a.xyz", 0, 3), {});
  const Printed refused = Import("native", {part, part}, {"--name", "twice"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.Json()["error"]["message"].get<std::string>(), HasSubstr("m0"));
  const Printed numbered = Import("native", {part, part}, {"--name", "twice", "--duplicate-ids", "number"});
  EXPECT_EQ(numbered.Json()["stored"], 6) << numbered.out;
}

TEST_F(PartCommandTest, RefusalOfAJoinNamesThePartAndItsGraph) {
  const std::string a = MakePart(WriteMolecules("a.xyz", 0, 3), {}),
                    b = MakePart(WriteMolecules("b.xyz", 1, 3), {});
  const Printed stopped = Import("native", {a, b}, {"--name", "joined"});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_THAT(stopped.Json()["error"]["message"].get<std::string>(),
              ::testing::StartsWith(
                  absl::StrCat(b, ": graph 1 (m1): the source id 'm1' came before; --duplicate-ids")));
  const Printed skipped = Import("native", {a, b}, {"--name", "joined", "--on-error", "skip"});
  EXPECT_EQ(skipped.exit_code, 4);
  EXPECT_THAT(skipped.err, HasSubstr(absl::StrCat("refused: ", b, ": graph 2 (m2): ")));
}

TEST_F(PartCommandTest, RepeatedIdNamesTheFlag) {
  const std::string source = folder_.Write("twice.xyz", "1\nid=a\nC 1 2 3\n1\nid=a\nC 1 2 3\n");
  const Printed printed = RunLine({"import", "extxyz", source, "-o", folder_.PathOf("part")});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.err,
              HasSubstr("twice.xyz:4: frame 2 (a): the source id 'a' came before; --duplicate-ids number"));
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

TEST_F(PartCommandTest, APartAloneNeedsAName) {
  const std::string part = MakePart(WriteMolecules("a.xyz", 0, 3), {});
  const Printed printed = RunLine({"import", "native", part, "--server", server_->address()});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("--name is required: " + part + " is a part"));
  EXPECT_EQ(Import("native", {part}, {"--name", "a"}).exit_code, 0);
  const std::string exported = folder_.PathOf("a.packtrain");
  ASSERT_EQ(
      RunLine({"dataset", "export", "a", "--format", "native", "-o", exported, "--server", server_->address()})
          .exit_code,
      0);
  EXPECT_EQ(Import("native", {exported}, {}).exit_code, 0);
  const Printed split = Import("native", {exported}, {"--split-permille", "500,250,250"});
  EXPECT_EQ(split.exit_code, 2);
  EXPECT_THAT(split.out, HasSubstr("--name is required"));
}

TEST_F(PartCommandTest, TargetsOfFilesAreAlwaysTold) {
  const std::string a = folder_.Write("a.xyz", "1\nid=a e=1\nC 1 2 3\n1\nid=b e=2\nH 1 2 3\n");
  const std::string part = MakePart(a, {"--targets", "e,f", "--missing-target", "nan"});
  const Printed joined = RunLine({"import", "native", part, part, "--name", "joined", "--on-error", "skip",
                                  "--missing-target", "nan", "--server", server_->address()});
  EXPECT_THAT(joined.out, HasSubstr("\ntarget e (in 2 of 2)\ntarget f (in 0 of 2; no graph has it)\n"))
      << joined.err;
}

TEST_F(PartCommandTest, SplitsOfAPartAreCounted) {
  const std::string lines = folder_.Write("a.jsonl",
                                          "{\"id\":\"a\",\"z\":[6],\"split\":\"train\"}\n"
                                          "{\"id\":\"b\",\"z\":[6]}\n");
  const nlohmann::json part =
      RunLine({"import", "jsonl", lines, "-o", folder_.PathOf("part"), "--json"}).Json();
  EXPECT_EQ(part["splits"]["train"], 1);
  EXPECT_EQ(part["in_no_split"], 1);
}

}  // namespace
}  // namespace packtrain::cli
