// A run with its summary: what `packtrain run show` and `packtrain run summary` ask for and print.
#ifndef PACKTRAIN_CLIENT_CLI_RUN_RUN_SUMMARY_H_
#define PACKTRAIN_CLIENT_CLI_RUN_RUN_SUMMARY_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/command.h"
#include "packtrain/v1/run.pb.h"

namespace packtrain::cli {

struct RunSummary {
  v1::Run run;
  v1::SummarizeRunResponse figures;
};

// `name`: of the run, or an unambiguous beginning. Codes as RunService.GetRun and SummarizeRun.
absl::StatusOr<RunSummary> ReadSummary(const std::string& name, const GlobalOptions& global);

// The keys of `run summary`: the steady state's figures at the top, the whole run's under "whole"; `steps` are
// all steps, as in `run list`.
Json SummaryToJson(const RunSummary& read);

// For people.
std::string SummaryToText(const RunSummary& read);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_RUN_RUN_SUMMARY_H_
