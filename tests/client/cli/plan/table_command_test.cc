// packtrain plan --table
#include <gmock/gmock.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/client/cli/run_line.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

constexpr char kGraphs[] = "2 2 1\n5 8 2\n5 8 4\n9 16 3\n20 40 8\n";

std::vector<std::string> TableOf(const std::string& sizes) {
  return {"plan", "--sizes",       sizes, "--policy", "supergraph", "--blocks",
          "3",    "--block-nodes", "4",   "--order",  "none",       "--table"};
}

TEST(TableCommandTest, AListHasLimitsOfNodesAndOfBandwidth) {
  const testing::TempFolder folder;
  std::vector<std::string> line = TableOf(folder.Write("sizes", kGraphs));
  line.push_back("--json");
  const nlohmann::json table = RunLine(line).Json()["table"];
  ASSERT_EQ(table.size(), 10u);
  EXPECT_EQ(table[2],
            (nlohmann::json{{"by", "nodes"}, {"limit", 8}, {"share", 0.6}, {"graphs_per_supergraph", 1.5}}));
  EXPECT_EQ(table[7], (nlohmann::json{
                          {"by", "bandwidth"}, {"limit", 2}, {"share", 0.4}, {"graphs_per_supergraph", 2.0}}));
}

TEST(TableCommandTest, TextAndCsvAreTheTable) {
  const testing::TempFolder folder;
  std::vector<std::string> line = TableOf(folder.Write("sizes", kGraphs));
  const Printed text = RunLine(line);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("by         limit  share  graphs a supergraph"));
  line.push_back("--csv");
  EXPECT_THAT(RunLine(line).out, ::testing::StartsWith("by,limit,share,graphs a supergraph\nnodes,2,0.2,1\n"));
}

TEST(TableCommandTest, ADatasetHasTheBandwidthsAsReadToo) {
  const std::unique_ptr<TestServer> server = TestServer::Start().value();
  const auto run = [&](std::vector<std::string> line) {
    line.insert(line.end(), {"--server", server->address(), "--json"});
    return RunLine(line);
  };
  const std::string data = PACKTRAIN_TEST_DATA;
  for (const char* renumber : {"", "--renumber=rcm"}) {
    std::vector<std::string> import = {"import", "extxyz",  data + "/qm9/qm9_sample.xyz.gz",
                                       "--name", "mols",    "--edges",
                                       "knn:3",  "--limit", "200"};
    if (*renumber != 0) import.push_back(renumber);
    ASSERT_EQ(run(import).exit_code, 0);
    const Printed printed = run({"plan", "--dataset", "mols", "--policy", "supergraph", "--blocks", "8",
                                 "--block-nodes", "8", "--table"});
    if (*renumber == 0) {
      EXPECT_EQ(printed.exit_code, 1);
      EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr("--renumber rcm"));
      continue;
    }
    ASSERT_EQ(printed.exit_code, 0) << printed.out;
    std::set<std::string> measures;
    double narrow = 0, as_read = 0;
    const nlohmann::json printed_plan = printed.Json();
    for (const nlohmann::json& row : printed_plan["table"]) {
      measures.insert(row["by"]);
      if (row["limit"] != 8) continue;
      if (row["by"] == "bandwidth") narrow = row["share"];
      if (row["by"] == "bandwidth_as_read") as_read = row["share"];
    }
    EXPECT_EQ(measures, (std::set<std::string>{"bandwidth", "bandwidth_as_read", "nodes"}));
    EXPECT_GT(narrow, as_read);
    const nlohmann::json plan = run({"plan", "--dataset", "mols", "--policy", "supergraph", "--blocks", "8",
                                     "--block-nodes", "8", "--oversize", "skip"})
                                    .Json();
    EXPECT_DOUBLE_EQ(narrow, plan["graphs"].get<double>() / 200);
  }
}

}  // namespace
}  // namespace packtrain::cli
