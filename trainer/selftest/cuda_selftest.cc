// The subcommand `selftest` of packtrain-trainer-cuda.
#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"
#include "trainer/engine/device.h"
#include "trainer/run/output.h"
#include "trainer/selftest/bench.h"
#include "trainer/selftest/check.h"
#include "trainer/selftest/device_checks.h"
#include "trainer/selftest/engine_checks.h"
#include "trainer/selftest/feed_checks.h"
#include "trainer/selftest/kernel_checks.h"
#include "trainer/selftest/model_checks.h"
#include "trainer/selftest/selftest.h"
#include "trainer/selftest/selftest_command.h"
#include "trainer/selftest/sum_checks.h"

namespace packtrain::trainer {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct SelftestOptions {
  std::regex only{""};  // a default one finds nothing
  bool bench = false;
  std::string batch_file;
};

std::array<std::span<const Check>, 6> CheckLists() {
  return {DeviceChecks(), FeedChecks(), KernelChecks(), ModelChecks(), EngineChecks(), SumChecks()};
}

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
  CLI::Option* bench = app.add_flag("--bench", options.bench, "Time training steps, too");
  app.add_option("--write-batch", options.batch_file,
                 "Write the batch that the timed steps are made on, for torch.load; --only must leave one")
      ->needs(bench)
      ->type_name("FILE");
}

void RunChecks(const std::regex& only, Selftest& selftest) {
  for (const std::span<const Check> list : CheckLists()) {
    for (const Check& check : list) {
      if (!std::regex_search(check.name.begin(), check.name.end(), only)) continue;
      const std::string reason = check.why_not == nullptr ? "" : check.why_not();
      if (reason.empty()) {
        selftest.Try(check.name, check.run);
      } else {
        selftest.Skip(check.name, reason);
      }
    }
  }
}

absl::Status AddRow(const BenchCase& bench, Json& table) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Device> device, OpenDevice("cuda", /*local_rank=*/0));
  absl::StatusOr<Json> row = TimeSteps(bench, {}, *device);
  if (row.ok()) table.push_back(*std::move(row));
  return row.status();
}

std::vector<BenchCase> ChosenCases(const std::regex& only) {
  std::vector<BenchCase> chosen;
  for (const BenchCase& bench : BenchCases()) {
    if (std::regex_search(NameOf(bench), only)) chosen.push_back(bench);
  }
  return chosen;
}

Json RunBench(const std::vector<BenchCase>& cases, Selftest& selftest) {
  Json table = Json::array();
  for (const BenchCase& bench : cases) selftest.Try(NameOf(bench), [&] { return AddRow(bench, table); });
  return table;
}

// Cases of one shape have one batch. INVALID_ARGUMENT: they have none, or several.
absl::Status WriteBatchOf(const std::vector<BenchCase>& cases, const std::string& file) {
  std::set<wire::Shape> shapes;
  for (const BenchCase& bench : cases) shapes.insert(bench.padded);
  if (shapes.size() == 1) return WriteBatch(cases.front(), file);
  return absl::InvalidArgumentError(absl::StrCat("--write-batch ", file, ": --only leaves timings on ",
                                                 shapes.size(),
                                                 " batches; let it name one, such as '576 nodes'"));
}

int Run(const SelftestOptions& options) {
  const std::vector<BenchCase> cases = options.bench ? ChosenCases(options.only) : std::vector<BenchCase>();
  if (!options.batch_file.empty()) {
    const absl::Status written = WriteBatchOf(cases, options.batch_file);
    if (!written.ok()) {
      PrintFailure(PACKTRAIN_PROGRAM, written, /*json=*/false);
      return absl::IsInvalidArgument(written) ? kUsage : kFailed;
    }
  }
  Selftest selftest(PrintProgress);
  RunChecks(options.only, selftest);
  const Json table = RunBench(cases, selftest);
  Json result = selftest.ToJson();
  result["table"] = table;
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
    base::RefuseFlagsWithoutValue(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : kUsage;
  }
  return Run(options);
}

}  // namespace packtrain::trainer
