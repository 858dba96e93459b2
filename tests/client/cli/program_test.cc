#include "client/cli/program.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/client/cli/run_line.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Printed;
using testing::RunLine;
using ::testing::StartsWith;

constexpr char kNobody[] = "unix:/nonexistent/packtrain.socket";

int RunBinary(const std::string& arguments, const std::string& out = "/dev/null") {
  const std::string line = std::string(PACKTRAIN_PROGRAM) + " " + arguments + " >" + out + " 2>/dev/null";
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST(ProgramTest, HelpStartsWithExamples) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{"--help"},
                                               {"import", "--help"},
                                               {"server", "--help"},
                                               {"server", "info", "--help"}}) {
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 0);
    EXPECT_THAT(printed.out, StartsWith("Examples:\n  packtrain "));
    EXPECT_THAT(printed.out, HasSubstr("Usage: "));
    EXPECT_THAT(printed.err, IsEmpty());
  }
}

TEST(ProgramTest, HelpListsTheExitCodes) {
  EXPECT_THAT(RunLine({"--help"}).out, HasSubstr("3 the server cannot be reached, 4 imported"));
}

TEST(ProgramTest, VersionIsPrinted) {
  const Printed printed = RunLine({"--version"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, StartsWith("packtrain 0."));
}

TEST(ProgramTest, WrongUsageIsTwoAndSaysWhatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "subcommand"},
      {{"serve"}, "'serve'"},
      {{"server", "info", "--no-such-flag"}, "--no-such-flag"},
      {{"server", "info", "--give-up", "soon"}, "--give-up"},
      {{"server", "info", "--give-up", "nan"}, "'nan' is no number from 0 to 1e+06"},
      {{"server", "info", "--give-up", "inf"}, "'inf'"},
      {{"server", "info", "--give-up=-1"}, "'-1'"},
      {{"server", "info", "--csv"}, "--csv"},
      {{"plan", "--dataset=", "--policy", "static", "--graphs", "2"},
       "--dataset=: nothing stands behind the '='"},
      {{"run", "steps", "r", "--max-points", "0"}, "'0' is no whole number from 1 to 9223372036854775807"},
      {{"plan", "--dataset", "d", "--policy", "static", "--graphs", "2", "--batch", "-1"},
       "'-1' is no whole number from 0"},
      {{"plan", "--dataset", "d", "--policy", "static", "--graphs", "2", "--epoch", "-1"}, "'-1'"},
      {{"plan", "--dataset", "d", "--policy", "static", "--graphs", "abc"},
       "'abc' is no whole number from 1 to"},
      {{"bench", "stream", "--dataset", "d", "--policy", "static", "--graphs", "2", "--clients", "4k"},
       "'4k' is no whole number from 1 to 1024"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--max-line-bytes", "1G"}, "'1G' is no whole number"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--split-permille", "8x,1,1"}, "'8x' is no whole number"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--limit", "-1"}, "'-1'"},
      {{"import", "mol2", "a.mol2", "--name", "a"}, "mol2"},
      {{"import", "extxyz", "--name", "a"}, "FILE"},
      {{"import", "extxyz", "a.xyz"}, "--name"},
      {{"import", "extxyz", "a.xyz", "--name", "a/b"}, "--name"},
      {{"import", "extxyz", "a.xyz", "--name=-a"}, "begins with a letter or digit"},
      {{"import", "extxyz", "a.xyz", "--name", ".."}, "begins with a letter or digit"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--edges", "knn:0"}, "--edges 'knn:0'"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--edges", "radius:nan"}, "--edges 'radius:nan'"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--edges", "near"}, "known: full, radius:R[:MAX], knn:K"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--key", "id"}, "--join"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--split-permille", "800,200"}, "--split-permille"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--split-permille", "800,100,99"}, "1000"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--split-permille", "800,100,100", "--split-file", "s"},
       "excludes"},
      {{"import", "extxyz", "a.xyz", "--name", "a", "--on-error", "ignore"}, "--on-error"},
  };
  for (const auto& [line, part] : cases) {
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 2) << printed.err;
    EXPECT_THAT(printed.err, HasSubstr(part));
    EXPECT_THAT(printed.out, IsEmpty());
  }
}

TEST(ProgramTest, WrongUsageIsJsonWhereAsked) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{"--json", "serve"},
                                               {"server", "--json"},
                                               {"server", "info", "--csv", "--json"}}) {
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_EQ(printed.Json()["error"]["code"], "INVALID_ARGUMENT");
    EXPECT_THAT(printed.err, IsEmpty());
  }
}

TEST(ProgramTest, ServerOutOfReachIsThree) {
  const Printed printed = RunLine({"server", "info", "--server", kNobody, "--give-up", "0.1", "--json"});
  EXPECT_EQ(printed.exit_code, 3);
  EXPECT_EQ(printed.Json()["error"]["code"], "UNAVAILABLE");
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr(kNobody));
}

TEST(ProgramTest, GlobalFlagsMayStandBeforeTheCommand) {
  const Printed printed = RunLine({"--server", kNobody, "--give-up", "0.1", "--json", "server", "info"});
  EXPECT_EQ(printed.exit_code, 3);
  EXPECT_EQ(printed.Json()["error"]["code"], "UNAVAILABLE");
}

TEST(ProgramTest, ServerComesFromTheEnvironmentUnlessNamed) {
  setenv("PACKTRAIN_SERVER", "unix:/nonexistent/environment.socket", 1);
  EXPECT_THAT(RunLine({"server", "info", "--give-up", "0.1"}).err, HasSubstr("environment.socket"));
  EXPECT_THAT(RunLine({"server", "info", "--give-up", "0.1", "--server", kNobody}).err, HasSubstr(kNobody));
  unsetenv("PACKTRAIN_SERVER");
}

// The words of a plan of this file of sizes.
std::vector<std::string> PlanOf(const std::string& sizes, const std::vector<std::string>& spec) {
  std::vector<std::string> line = {"plan", "--sizes", sizes, "--json"};
  line.insert(line.end(), spec.begin(), spec.end());
  return line;
}

TEST(ProgramTest, WrongUsageThatShowsAfterParsingIsTwo) {
  const testing::TempFolder folder;
  const std::string sizes = folder.Write("sizes", "3 6\n4 12\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"server", "info", "--server", "nowhere", "--json"}, "--server"},
      {{"import", "extxyz", sizes, "--name", "a", "--server", "nowhere", "--json"}, "--server"},
      {PlanOf(sizes, {"--policy", "dynamic", "--graphs", "2", "--pad", "pow2"}), "--pad"},
      {PlanOf(sizes, {"--policy", "dynamic", "--graphs", "2", "--pad", "ladder:2"}), "--pad"},
      {PlanOf(sizes, {"--policy", "static", "--graphs", "2", "--pad", "ladder:0"}),
       "ladder:K with K from 1 to 64"},
      {PlanOf(sizes, {"--policy", "static", "--graphs", "2", "--pad", "ladder:65"}), "--pad"},
      {PlanOf(sizes, {"--policy", "static", "--graphs", "2", "--order", "window:0"}), "window:K with K from 1"},
      {PlanOf(sizes, {"--policy", "static", "--graphs", "2", "--order", "window:many"}), "--order"},
      {PlanOf(sizes, {"--policy", "static", "--graphs", "31", "--max-graphs", "3"}), "--max-graphs"},
      {PlanOf(sizes, {"--policy", "dynamic", "--graphs", "31", "--lookahead", "3"}), "--lookahead"},
      {PlanOf(sizes, {"--policy", "static", "--graphs", "2", "--oversize", "skip"}),
       "--oversize does not go with --policy static"},
      {PlanOf(sizes, {"--policy", "packed", "--graphs", "31", "--lookahead", "5000"}), "--lookahead"},
      {PlanOf(sizes, {"--policy", "static", "--graphs", "2", "--split", "test"}), "--split"}};
  for (const auto& [line, part] : cases) {
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 2) << printed.out;
    EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr(part));
  }
}

// The flags state the planner's limits: it takes what lies on them.
TEST(ProgramTest, NumbersAtTheLimitsOfTheFlagsArePlanned) {
  const testing::TempFolder folder;
  const std::string sizes = folder.Write("sizes", "1 1\n1 1\n");
  for (const auto& [flag, number] :
       std::vector<std::pair<std::string, std::string>>{{"--max-graphs", "16777216"},
                                                        {"--nodes", "2147483647"},
                                                        {"--edges", "2147483647"},
                                                        {"--lookahead", "4096"},
                                                        {"--nodes", "2"},
                                                        {"--budget-sample", "4294967295"}}) {
    EXPECT_EQ(RunLine(PlanOf(sizes, {"--policy", "packed", "--graphs", "1", flag, number})).exit_code, 0)
        << flag;
  }
  EXPECT_EQ(RunLine(PlanOf(sizes, {"--policy", "static", "--graphs", "16777216"})).exit_code, 0);
}

TEST(ProgramTest, WrongUsageThatTheServerFindsIsTwo) {
  const std::unique_ptr<testing::TestServer> server = testing::TestServer::Start().value();
  const std::vector<std::vector<std::string>> cases = {
      {"run", "list", "--where", "(("},
      {"run", "compare", "--by", "nonsense"},
      {"run", "compare", "--by", "policy", "--metric", "nonsense"},
      {"plan", "--dataset", "d", "--policy", "dynamic", "--graphs", "2", "--pad", "pow2"}};
  for (std::vector<std::string> line : cases) {
    line.insert(line.end(), {"--json", "--server", server->address()});
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 2) << printed.out;
    EXPECT_EQ(printed.Json()["error"]["code"], "INVALID_ARGUMENT");
  }
}

TEST(ProgramTest, BadFileOfSizesIsAFailureAndNoWrongUsage) {
  const testing::TempFolder folder;
  const std::vector<std::string> spec = {"--policy", "static", "--graphs", "2"};
  EXPECT_EQ(RunLine(PlanOf(folder.Write("bad", "3 x\n"), spec)).exit_code, 1);
  EXPECT_EQ(RunLine(PlanOf(folder.PathOf("absent"), spec)).exit_code, 1);
  EXPECT_EQ(RunLine(PlanOf(folder.Write("good", "3 6\n"), spec)).exit_code, 0);
}

TEST(ProgramTest, ALineThatIsTooLongForSizesIsNoLineOfSizes) {
  const testing::TempFolder folder;
  const std::string sizes = folder.Write("sizes", "3 6\n3 6" + std::string(2 << 20, ' ') + "\n");
  const Printed printed = RunLine(PlanOf(sizes, {"--policy", "static", "--graphs", "2"}));
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(),
              StartsWith(sizes + ":2: a line is `n_node n_edge`"));
}

TEST(ProgramTest, OutputThatCannotBeWrittenIsAFailure) {
  const testing::TempFolder folder;
  const std::string plan = "plan --policy static --graphs 2 --sizes " + folder.Write("sizes", "3 6\n4 12\n");
  for (const std::string& line : {std::string("--help"), std::string("--version"), plan, plan + " --json"}) {
    EXPECT_EQ(RunBinary(line, "/dev/full"), 1) << line;
    EXPECT_EQ(RunBinary(line), 0) << line;
  }
}

TEST(ProgramTest, ProgramReturnsTheExitCode) {
  EXPECT_EQ(RunBinary("--version"), 0);
  EXPECT_EQ(RunBinary("import extxyz /nonexistent.xyz --name a"), 1);
  EXPECT_EQ(RunBinary("server info --no-such-flag"), 2);
  EXPECT_EQ(RunBinary(std::string("server info --give-up 0.1 --server ") + kNobody), 3);
}

}  // namespace
}  // namespace packtrain::cli
