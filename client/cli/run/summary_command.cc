// packtrain run summary
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_argument.h"
#include "client/cli/run/run_summary.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

absl::StatusOr<ExitCode> ShowSummary(const std::string& name, const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(const RunSummary read, ReadSummary(name, global));
  output.Print(SummaryToJson(read), SummaryToText(read));
  return ExitCode::kDone;
}

}  // namespace

void AddRunSummary(CLI::App& run, Invocation& invocation) {
  CLI::App* summary =
      AddCommand(run, "summary", "Shows a run's times, rates and fill", {"packtrain run summary RUN"});
  const auto name = std::make_shared<std::string>();
  AddRunArgument(*summary, *name);
  OnChosen(*summary, invocation, WithFlags(name, ShowSummary));
}

}  // namespace packtrain::cli
