// packtrain run curve
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_argument.h"
#include "client/cli/run/run_json.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

std::string ShortNumber(double value) { return FormatNumber(value, 6); }

// Exact for programs, short for people.
Table CurveTable(const v1::ListEvaluationsResponse& response, OutputFormat format) {
  const JsonRules rules = {
      .fields = {{"Evaluation.duration_ns", Seconds("seconds")}, {"Evaluation.attempt", Omit()}},
      .first_keys = {{"Evaluation",
                      {"step", "split", "graphs", "mae", "rmse", "accuracy", "constant_mae", "constant_rmse",
                       "constant_accuracy", "filter_error"}}}};
  const Json rows = MessageToJson(response, rules)["evaluations"];
  const std::vector<std::string> keys = KeysOf(MessageToJson(v1::Evaluation(), rules));
  if (format == OutputFormat::kCsv) return TableOf(rows, keys);
  return WithoutEmptyColumns(TableOf(rows, keys, ShortNumber));
}

absl::StatusOr<ExitCode> ShowCurve(const std::string& run, const GlobalOptions& global, Output& output) {
  v1::ListEvaluationsRequest request;
  request.set_run(run);
  ABSL_ASSIGN_OR_RETURN(const v1::ListEvaluationsResponse response,
                        Ask<v1::ListEvaluationsResponse>(global, request, client::kLookUp));
  output.Print(MessageToJson(response, RunRules())["evaluations"], CurveTable(response, output.format()));
  return ExitCode::kDone;
}

}  // namespace

void AddRunCurve(CLI::App& run, Invocation& invocation) {
  CLI::App* curve = AddCommand(run, "curve", "Shows a run's evaluations on its validation and test splits",
                               {"packtrain run curve RUN", "packtrain run curve RUN --csv"});
  const auto name = std::make_shared<std::string>();
  AddRunArgument(*curve, *name);
  OnChosenPrintTable(*curve, invocation, WithFlags(name, ShowCurve));
}

}  // namespace packtrain::cli
