#include "trainer/run/output.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "trainer/models/model_names.h"
#include "trainer/options.h"

namespace packtrain::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

int RunProgram(const std::string& arguments, const std::string& out = "/dev/null") {
  const std::string line =
      std::string(PACKTRAIN_TRAINER_PROGRAM) + " " + arguments + " >" + out + " 2>/dev/null";
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST(Output, FailureIsOneLineOfJsonWhereAsked) {
  CaptureStdout();
  PrintFailure("trainer", absl::NotFoundError("no data set 'x'"), /*json=*/true);
  EXPECT_EQ(GetCapturedStdout(),
            "{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"no data set 'x'\",\"details\":[]}}\n");
  CaptureStdout();
  PrintFailure("trainer", absl::NotFoundError("no data set 'x'"), /*json=*/false);
  EXPECT_EQ(GetCapturedStdout(), "");
}

TEST(Output, ControlCharactersAreEscapedForTheTerminal) {
  CaptureStderr();
  PrintFailure("trainer", absl::NotFoundError("no data set '\x1b[2J'\n"), /*json=*/false);
  PrintProgress("label \a");
  EXPECT_EQ(GetCapturedStderr(), "trainer: no data set '\\x1b[2J'\\n\nlabel \\x07\n");
}

TEST(Output, WrongUsageIsJsonToo) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{"trainer", "--json", "--no-such-flag"},
                                             {"trainer", "--model", "schnet", "--lr", "\xff", "--json"}}) {
    CaptureStdout();
    const CommandLine line = ParseCommandLine("trainer", static_cast<int>(words.size()), words.data());
    const nlohmann::json printed = nlohmann::json::parse(GetCapturedStdout());
    EXPECT_EQ(line.exit_code, 2);
    EXPECT_EQ(printed["error"]["code"], "INVALID_ARGUMENT");
    EXPECT_THAT(printed["error"]["message"].get<std::string>(), HasSubstr("--help"));
  }
}

TEST(Output, HelpNamesTheModelsOfTheTable) {
  CaptureStdout();
  const std::vector<const char*> words = {"trainer", "--help"};
  EXPECT_EQ(ParseCommandLine("trainer", static_cast<int>(words.size()), words.data()).exit_code, 0);
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("What to train: " + ModelNames() + "\n"));
}

TEST(Output, TextThatIsNoUtf8IsReplaced) {
  CaptureStdout();
  EXPECT_TRUE(PrintResult({{"model", "\xff"}}).ok());
  EXPECT_EQ(GetCapturedStdout(), "{\"model\":\"\xef\xbf\xbd\"}\n");
  EXPECT_EQ(RunProgram("--model '\xff' --describe --classes 5 --json"), 2);
}

TEST(Output, NumbersThatJsonLacksStayApart) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CaptureStdout();
  EXPECT_TRUE(
      PrintResult({{"x", {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, nullptr}}}).ok());
  EXPECT_EQ(GetCapturedStdout(), "{\"x\":[\"NaN\",\"Infinity\",\"-Infinity\",null]}\n");
}

TEST(Output, SelftestIsOfTheGpuProgram) {
  EXPECT_EQ(RunProgram("selftest"), 2);
  EXPECT_EQ(RunProgram("selftest --bench"), 2);
}

TEST(Output, ResultThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(RunProgram("--model schnet --describe --classes 5"), 0);
  EXPECT_EQ(RunProgram("--model schnet --describe --classes 5", "/dev/full"), 1);
  EXPECT_EQ(RunProgram("--help", "/dev/full"), 1);
}

}  // namespace
}  // namespace packtrain::trainer
