// The subcommand `selftest` of packtrain-trainer-cuda.
#include <CLI/CLI.hpp>
#include <array>
#include <regex>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/output.h"
#include "trainer/selftest/check.h"
#include "trainer/selftest/device_checks.h"
#include "trainer/selftest/feed_checks.h"
#include "trainer/selftest/kernel_checks.h"
#include "trainer/selftest/selftest.h"
#include "trainer/selftest/selftest_command.h"

namespace packtrain::trainer {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct SelftestOptions {
  std::regex only{""};  // a default one finds nothing
  bool bench = false;
};

std::array<std::span<const Check>, 3> CheckLists() { return {DeviceChecks(), FeedChecks(), KernelChecks()}; }

void AddFlags(CLI::App& app, SelftestOptions& options) {
  app.add_option_function<std::string>(
         "--only",
         [&options](const std::string& expression) {
           try {
             options.only = std::regex(expression);
           } catch (const std::regex_error& error) {
             throw CLI::ValidationError("--only", absl::StrCat("'", expression, "': ", error.what()));
           }
         },
         "Run the checks and the timings whose names this finds [all]")
      ->type_name("REGEX");
  app.add_flag("--bench", options.bench, "Time training steps, too");
}

void RunChecks(const std::regex& only, Selftest& selftest) {
  for (const std::span<const Check> list : CheckLists()) {
    for (const Check& check : list) {
      if (std::regex_search(check.name.begin(), check.name.end(), only)) selftest.Try(check.name, check.run);
    }
  }
}

int Run(const SelftestOptions& options) {
  Selftest selftest(PrintProgress);
  RunChecks(options.only, selftest);
  nlohmann::ordered_json result = selftest.ToJson();
  result["table"] = nlohmann::ordered_json::array();
  const absl::Status printed = PrintResult(result);
  if (!printed.ok()) PrintFailure(PACKTRAIN_PROGRAM, printed, /*json=*/false);
  return printed.ok() && selftest.passed() ? 0 : kFailed;
}

}  // namespace

int SelftestCommand(int argc, const char* const* argv) {
  SelftestOptions options;
  CLI::App app("Checks the GPU program on this machine", PACKTRAIN_PROGRAM " selftest");
  AddFlags(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : kUsage;
  }
  return Run(options);
}

}  // namespace packtrain::trainer
