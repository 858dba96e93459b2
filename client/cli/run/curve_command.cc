// packtrain run curve
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_argument.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

constexpr double kNsPerSecond = 1e9;

Json ToJson(const v1::Evaluation& evaluation) {
  return {{"step", evaluation.step()},
          {"split", evaluation.split()},
          {"graphs", evaluation.graphs()},
          {"mae", evaluation.mae()},
          {"rmse", evaluation.rmse()},
          {"constant_predictor", {{"mae", evaluation.constant_mae()}, {"rmse", evaluation.constant_rmse()}}},
          {"seconds", static_cast<double>(evaluation.duration_ns()) / kNsPerSecond}};
}

// Exact for programs, short for people.
Table CurveTable(const v1::ListEvaluationsResponse& response, OutputFormat format) {
  Table table{{"step", "split", "graphs", "mae", "rmse", "constant_mae", "constant_rmse", "seconds"}, {}};
  const auto number = [format](double value) {
    return format == OutputFormat::kCsv ? FormatExact(value) : FormatNumber(value, 6);
  };
  for (const v1::Evaluation& evaluation : response.evaluations()) {
    table.rows.push_back({std::to_string(evaluation.step()), evaluation.split(),
                          std::to_string(evaluation.graphs()), number(evaluation.mae()),
                          number(evaluation.rmse()), number(evaluation.constant_mae()),
                          number(evaluation.constant_rmse()),
                          number(static_cast<double>(evaluation.duration_ns()) / kNsPerSecond)});
  }
  return table;
}

absl::StatusOr<ExitCode> ShowCurve(const std::string& run, const GlobalOptions& global, Output& output) {
  v1::ListEvaluationsRequest request;
  request.set_run(run);
  ABSL_ASSIGN_OR_RETURN(
      const v1::ListEvaluationsResponse response,
      CallService(global, [&](client::ServiceClient& services) { return services.ListEvaluations(request); }));
  Json list = Json::array();
  for (const v1::Evaluation& evaluation : response.evaluations()) list.push_back(ToJson(evaluation));
  output.Print(list, CurveTable(response, output.format()));
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
