// packtrain plan --sizes
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/client/cli/run_line.h"
#include "tests/testing/temp_file.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;
using testing::RunLine;

// Two graphs of at most 8 nodes and 8 edges go into a batch, and the one in line 4 goes into none.
Printed Plan(const std::string& oversize) {
  const testing::TempFolder folder;
  return RunLine({"plan", "--sizes", folder.Write("sizes", "3 4\n\n5 6\n90 900\n"), "--policy", "dynamic",
                  "--graphs", "2", "--nodes", "9", "--edges", "10", "--oversize", oversize, "--json"});
}

TEST(PlanCommandTest, ARefusalNamesTheLineOfTheLargestGraph) {
  const Printed printed = Plan("error");
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(),
              HasSubstr("the largest is line 4 with 90 nodes and 900 edges"));
}

TEST(PlanCommandTest, GraphsAboveTheBudgetAreListedByTheirLines) {
  for (const std::string oversize : {"alone", "skip"}) {
    const nlohmann::json plan = Plan(oversize).Json();
    EXPECT_EQ(plan["oversize"],
              (nlohmann::json{{"action", oversize}, {"count", 1}, {"ids", {"line 4"}}, {"truncated", false}}));
    EXPECT_EQ(plan["graphs"], oversize == "alone" ? 3 : 2);
  }
}

std::string ErrorOf(const std::string& sizes) {
  const testing::TempFolder folder;
  const Printed printed = RunLine(
      {"plan", "--sizes", folder.Write("sizes", sizes), "--policy", "static", "--graphs", "1", "--json"});
  EXPECT_NE(printed.exit_code, 0);
  return printed.Json()["error"]["message"];
}

TEST(PlanCommandTest, ASizeOutOfRangeIsNamedWithItsLineAndTheLimit) {
  EXPECT_THAT(ErrorOf("3 4\n2147483648 6\n"),
              HasSubstr("sizes:2: n_node 2147483648 is out of range: up to 2147483647"));
  EXPECT_THAT(ErrorOf("5 99999999999999999999\n"),
              HasSubstr("sizes:1: n_edge 99999999999999999999 is out of range: up to 2147483647"));
}

TEST(PlanCommandTest, WhatIsNoWholeNumberIsNamedAsSuch) {
  for (const char* line : {"3", "3 x", "3 -4", "3 4.5", "99999999999x 4", "3,4"}) {
    EXPECT_THAT(ErrorOf(std::string("1 0\n") + line + "\n"),
                HasSubstr("sizes:2: a line is `n_node n_edge`, whole numbers"))
        << line;
  }
}

// Five graphs on three ranks: the second step cannot fill them.
TEST(PlanCommandTest, DropLastSaysHowManyGraphsItLeavesOut) {
  const testing::TempFolder folder;
  std::vector<std::string> line = {
      "plan",     "--sizes",      folder.Write("sizes", "1 0\n2 0\n3 0\n4 0\n5 0\n"),
      "--policy", "static",       "--graphs",
      "1",        "--world-size", "3"};
  EXPECT_THAT(RunLine(line).out, ::testing::Not(HasSubstr("--drop-last")));
  line.push_back("--drop-last");
  EXPECT_THAT(RunLine(line).out, HasSubstr("dropped   2 graphs of the incomplete last step (--drop-last)\n"));
  line.push_back("--json");
  const nlohmann::json plan = RunLine(line).Json();
  EXPECT_EQ(plan["graphs"], 3);
  EXPECT_EQ(plan["dropped_graphs"], 2);
}

TEST(PlanCommandTest, SupergraphsReadABandwidthAndNeedNoGraphs) {
  const testing::TempFolder folder;
  const std::vector<std::string> line = {
      "plan",     "--sizes",       folder.Write("sizes", "5 10 2 x\n\n6 12 1\n4 9 3\n11 30 4\n7 8 5\n"),
      "--policy", "supergraph",    "--blocks",
      "4",        "--block-nodes", "4",
      "--order",  "none",          "--json"};
  const Printed refused = RunLine(line);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(
      refused.Json()["error"]["message"].get<std::string>(),
      HasSubstr("the largest is line 6 with 7 nodes, 8 edges and bandwidth 5; --blocks 4 --block-nodes 5 "
                "would hold every graph"));
  std::vector<std::string> alone = line;
  alone.insert(alone.end(), {"--oversize", "alone"});
  const nlohmann::json plan = RunLine(alone).Json();
  EXPECT_EQ(plan["batches"], 3);
  EXPECT_EQ(plan["oversize"]["ids"], nlohmann::json({"line 6"}));
  EXPECT_EQ(plan["budget"], (nlohmann::json{{"graphs", 16}, {"nodes", 16}, {"edges", 31}, {"block_nodes", 4}}));
  EXPECT_EQ(
      plan["shapes"],
      (nlohmann::json{{{"graphs", 17}, {"nodes", 16}, {"edges", 31}, {"block_nodes", 4}, {"batches", 2}},
                      {{"graphs", 2}, {"nodes", 64}, {"edges", 64}, {"block_nodes", 64}, {"batches", 1}}}));
  std::vector<std::string> other = alone;
  other.insert(other.end(), {"--graphs", "99"});  // decides nothing
  EXPECT_EQ(RunLine(other).Json()["fingerprint"], plan["fingerprint"]);
}

TEST(PlanCommandTest, SkipAboveSaysHowManyGraphsItLeavesOut) {
  const testing::TempFolder folder;
  std::vector<std::string> line = {"plan",     "--sizes", folder.Write("sizes", "5 10 2\n6 12 1\n4 9 3\n"),
                                   "--policy", "static",  "--graphs",
                                   "1"};
  EXPECT_THAT(RunLine(line).out, ::testing::Not(HasSubstr("--skip-above")));
  std::vector<std::string> whole = line;
  whole.emplace_back("--json");
  EXPECT_EQ(RunLine(whole).Json()["skipped_graphs"], 0);
  for (const char* limit : {"nodes:5", "bandwidth:2"}) {
    std::vector<std::string> sliced = line;
    sliced.insert(sliced.end(), {"--skip-above", limit});
    EXPECT_THAT(RunLine(sliced).out,
                HasSubstr(std::string("skipped   1 graphs (--skip-above ") + limit + ")\n"));
    sliced.emplace_back("--json");
    const nlohmann::json plan = RunLine(sliced).Json();
    EXPECT_EQ(plan["graphs"], 2);
    EXPECT_EQ(plan["skipped_graphs"], 1);
    EXPECT_NE(plan["fingerprint"], RunLine(whole).Json()["fingerprint"]);
  }
}

TEST(PlanCommandTest, ASliceWithoutGraphsOrBandwidthsIsRefused) {
  const testing::TempFolder folder;
  const std::string sizes = folder.Write("sizes", "5 10\n6 12\n");
  const auto error = [&](const char* limit) {
    const Printed printed = RunLine(
        {"plan", "--sizes", sizes, "--policy", "static", "--graphs", "1", "--skip-above", limit, "--json"});
    EXPECT_EQ(printed.exit_code, 1);
    return printed.Json()["error"]["message"].get<std::string>();
  };
  EXPECT_THAT(error("nodes:4"), HasSubstr("--skip-above nodes:4 would leave no graph of 2"));
  EXPECT_THAT(error("bandwidth:4"),
              HasSubstr("sizes:1: a line is `n_node n_edge bandwidth`, whole numbers, for supergraphs and "
                        "--skip-above bandwidth:K"));
}

TEST(PlanCommandTest, OtherBandwidthsAreAnotherPlan) {
  const testing::TempFolder folder;
  const auto fingerprint = [&](const std::string& sizes) {
    return RunLine({"plan", "--sizes", folder.Write("sizes", sizes), "--policy", "supergraph", "--blocks", "4",
                    "--block-nodes", "4", "--json"})
        .Json()["fingerprint"];
  };
  EXPECT_EQ(fingerprint("5 10 2\n"), fingerprint("5 10 2\n"));
  EXPECT_NE(fingerprint("5 10 2\n"), fingerprint("5 10 3\n"));
}

TEST(PlanCommandTest, ABandwidthThatIsMissingOrTooGreatIsNamedWithItsLine) {
  const testing::TempFolder folder;
  const auto error = [&](const std::string& sizes) {
    const Printed printed = RunLine({"plan", "--sizes", folder.Write("sizes", sizes), "--policy", "supergraph",
                                     "--blocks", "4", "--block-nodes", "4", "--json"});
    EXPECT_NE(printed.exit_code, 0);
    return printed.Json()["error"]["message"].get<std::string>();
  };
  for (const char* line : {"3 4", "3 4 x", "3 4 -1"}) {
    EXPECT_THAT(error(std::string("1 0 0\n") + line + "\n"),
                HasSubstr("sizes:2: a line is `n_node n_edge bandwidth`, whole numbers"))
        << line;
  }
  EXPECT_THAT(error("3 4 3\n"), HasSubstr("sizes:1: bandwidth 3 is out of range: below the 3 nodes"));
}

TEST(PlanCommandTest, WrongUsageOfBlocksIsTwo) {
  const testing::TempFolder folder;
  const std::string sizes = folder.Write("sizes", "3 4 1\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--policy", "dynamic"}, "--graphs is required"},
      {{"--policy", "supergraph"}, "--policy supergraph needs --blocks and --block-nodes"},
      {{"--policy", "supergraph", "--blocks", "4", "--block-nodes", "0"}, "--block-nodes"},
      {{"--policy", "supergraph", "--blocks", "1", "--block-nodes", "1"}, "2 to 2147483647 node slots"},
      {{"--policy", "supergraph", "--blocks", "4", "--block-nodes", "4", "--nodes", "9"},
       "--nodes does not go with --policy supergraph"},
      {{"--policy", "supergraph", "--blocks", "4", "--block-nodes", "4", "--tune"}, "--tune"},
      {{"--policy", "dynamic", "--graphs", "3", "--blocks", "4"}, "--blocks does not go with --policy dynamic"},
      {{"--policy", "dynamic", "--graphs", "3", "--table"}, "--table does not go with --policy dynamic"}};
  for (const auto& [flags, part] : cases) {
    std::vector<std::string> line = {"plan", "--sizes", sizes, "--json"};
    line.insert(line.end(), flags.begin(), flags.end());
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 2) << part;
    EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr(part));
  }
}

}  // namespace
}  // namespace packtrain::cli
