// packtrain plan --tune
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/client/cli/run_line.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;
using testing::RunLine;
using testing::TestServer;

const std::string kData = PACKTRAIN_TEST_DATA;
const std::string kSizes = kData + "/sizes/mp_knn12_sizes.txt";

Printed Plan(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"plan", "--policy", "dynamic", "--json"});
  return RunLine(std::move(flags));
}

// What `plan` says of the budget of an entry of the frontier.
nlohmann::json PlanUnder(const nlohmann::json& tuned, std::vector<std::string> flags) {
  flags.insert(flags.end(), {"--nodes", std::to_string(tuned["budget"]["nodes"].get<int>()), "--edges",
                             std::to_string(tuned["budget"]["edges"].get<int>())});
  return Plan(std::move(flags)).Json();
}

void ExpectSame(const nlohmann::json& tuned, const nlohmann::json& plan) {
  EXPECT_EQ(tuned["budget"], plan["budget"]);
  EXPECT_EQ(tuned["fill"], plan["fill"]);
  EXPECT_EQ(tuned["batches"], plan["batches"]);
  EXPECT_EQ(tuned["graphs_per_batch"], plan["graphs_per_batch"]);
}

TEST(TuneCommandTest, TheFrontierIsWhatPlanSaysOfItsBudgets) {
  const std::vector<std::string> flags = {"--sizes", kSizes, "--graphs", "31", "--max-graphs", "40"};
  std::vector<std::string> tune = flags;
  tune.push_back("--tune");
  const nlohmann::json frontier = Plan(tune).Json()["frontier"];
  ASSERT_FALSE(frontier.empty());
  for (const nlohmann::json& tuned : frontier) ExpectSame(tuned, PlanUnder(tuned, flags));
}

TEST(TuneCommandTest, TextIsATableOfTheSameBudgets) {
  const Printed printed = RunLine(
      {"plan", "--policy", "dynamic", "--graphs", "31", "--sizes", kSizes, "--max-graphs", "40", "--tune"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("--nodes  --edges  --max-graphs  node fill  edge fill"));
  EXPECT_GE(std::count(printed.out.begin(), printed.out.end(), '\n'), 2);
}

TEST(TuneCommandTest, CsvIsTheTable) {
  const std::vector<std::string> plan = {"plan",    "--policy", "dynamic",      "--graphs", "31",
                                         "--sizes", kSizes,     "--max-graphs", "40",       "--csv"};
  std::vector<std::string> tune = plan;
  tune.push_back("--tune");
  EXPECT_THAT(RunLine(tune).out, ::testing::StartsWith("--nodes,--edges,--max-graphs,node fill,edge fill,"));
  const Printed refused = RunLine(plan);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--csv: this command prints no table"));
}

TEST(TuneCommandTest, ASplitOfAServersDatasetIsTunedAsItIsPlanned) {
  const std::unique_ptr<TestServer> server = TestServer::Start().value();
  const Printed imported = RunLine({"import", "extxyz", kData + "/qm9/qm9_sample.xyz.gz", "--name", "qm9",
                                    "--split-permille", "600,200,200", "--server", server->address()});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  for (const std::string split : {"train", "val", "all"}) {
    std::vector<std::string> flags = {"--dataset",    "qm9",       "--graphs", "15",
                                      "--max-graphs", "20",        "--epoch",  "2",
                                      "--order",      "window:50", "--server", server->address()};
    if (split != "train") flags.insert(flags.end(), {"--split", split});  // the default
    std::vector<std::string> tune = flags;
    tune.push_back("--tune");
    const nlohmann::json frontier = Plan(tune).Json()["frontier"];
    ASSERT_FALSE(frontier.empty()) << split;
    ExpectSame(frontier[0], PlanUnder(frontier[0], flags));
  }
}

TEST(TuneCommandTest, SaysWhatDoesNotGoWithIt) {
  const std::vector<std::string> tune = {"plan", "--sizes", kSizes, "--graphs", "31", "--tune", "--json"};
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--policy", "static"}, "--policy static"},
      {{"--policy", "dynamic", "--nodes", "500"}, "--nodes"},
      {{"--policy", "dynamic", "--edges", "500"}, "--edges"},
      {{"--policy", "dynamic", "--budget-sample", "10"}, "--budget-sample"},
      {{"--policy", "dynamic", "--batch", "0"}, "--batch"},
      {{"--policy", "dynamic", "--split", "val"}, "--split"}};
  for (const auto& [flags, part] : cases) {
    std::vector<std::string> line = tune;
    line.insert(line.end(), flags.begin(), flags.end());
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 2) << part;
    EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr(part));
  }
}

TEST(TuneCommandTest, AnUnknownDatasetIsAFailure) {
  const std::unique_ptr<TestServer> server = TestServer::Start().value();
  const Printed printed = Plan({"--dataset", "nope", "--graphs", "8", "--tune", "--server", server->address()});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "NOT_FOUND");
}

}  // namespace
}  // namespace packtrain::cli
