#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/client/cli/run_line.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

class FsckCommandTest : public ::testing::Test {
 protected:
  FsckCommandTest() {
    const std::string graphs = PACKTRAIN_TEST_DATA "/qm9/qm9_sample.xyz.gz";
    const std::string targets = PACKTRAIN_TEST_DATA "/qm9/qm9_sample_targets.csv.gz";
    const Printed imported = Run({"import", "extxyz", graphs, "--name", "qm9", "--edges", "full", "--join",
                                  targets, "--key", "name", "--json"});
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    reference_ = "qm9@" + imported.Json()["version"].get<std::string>();
  }

  Printed Run(std::vector<std::string> words) {
    words.insert(words.end(), {"--server", server_->address()});
    return RunLine(std::move(words));
  }

  // Writes other bytes into the middle of the largest sorted file, while the server is down.
  std::string Damage() {
    server_->Stop();
    std::filesystem::path largest;
    for (const auto& entry : std::filesystem::directory_iterator(server_->data() / "graphs" / "db")) {
      if (entry.path().extension() != ".sst") continue;
      if (largest.empty() || entry.file_size() > file_size(largest)) largest = entry.path();
    }
    std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(file_size(largest) / 2));
    file << "damage";
    file.close();
    EXPECT_TRUE(server_->StartAgain().ok());
    return largest.filename().string();
  }

  std::unique_ptr<TestServer> server_ = *TestServer::Start();
  std::string reference_;
};

TEST_F(FsckCommandTest, AWholeStoreIsAllWell) {
  const Printed printed = Run({"fsck", "--json"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_TRUE(printed.Json()["findings"].empty());
  EXPECT_EQ(printed.Json()["datasets"], 1);
  EXPECT_GT(printed.Json()["graphs"], 1000);
  EXPECT_GT(printed.Json()["files"], 0);
  EXPECT_THAT(Run({"fsck"}).out, HasSubstr("all well"));
}

TEST_F(FsckCommandTest, DamageIsNamedByFileDataSetAndGraph) {
  const std::string file = Damage();
  const Printed printed = Run({"fsck", "--json"});
  EXPECT_EQ(printed.exit_code, 1);
  const nlohmann::json findings = printed.Json()["findings"];
  ASSERT_GE(findings.size(), 2);
  EXPECT_EQ(findings[0]["kind"], "file");
  EXPECT_THAT(findings[0]["file"].get<std::string>(), ::testing::EndsWith(file));
  EXPECT_EQ(findings[1]["kind"], "graph");
  EXPECT_EQ(findings[1]["dataset"], reference_);
  EXPECT_TRUE(findings[1]["graph"].is_number());
  const Printed text = Run({"fsck"});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, HasSubstr("graph " + reference_ + " " + findings[1]["graph"].dump() + ": "));
}

}  // namespace
}  // namespace packtrain::cli
