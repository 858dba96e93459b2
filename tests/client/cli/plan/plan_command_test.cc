// packtrain plan --sizes
#include <gmock/gmock.h>

#include <string>
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

}  // namespace
}  // namespace packtrain::cli
