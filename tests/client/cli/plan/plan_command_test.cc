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

}  // namespace
}  // namespace packtrain::cli
