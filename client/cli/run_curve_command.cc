// packtrain run curve
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/run_commands.h"
#include "client/cli/service_call.h"

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

absl::StatusOr<ExitCode> ShowCurve(const std::string& run, const GlobalOptions& global, Output& output) {
  v1::ListEvaluationsRequest request;
  request.set_run(run);
  const absl::StatusOr<v1::ListEvaluationsResponse> response =
      CallService(global, [&](client::ServiceClient& services) { return services.ListEvaluations(request); });
  if (!response.ok()) return response.status();
  Json list = Json::array();
  Table table{{"step", "split", "graphs", "mae", "rmse", "constant_mae", "constant_rmse", "seconds"}, {}};
  for (const v1::Evaluation& evaluation : response->evaluations()) {
    list.push_back(ToJson(evaluation));
    table.rows.push_back({std::to_string(evaluation.step()), evaluation.split(),
                          std::to_string(evaluation.graphs()), FormatNumber(evaluation.mae(), 6),
                          FormatNumber(evaluation.rmse(), 6), FormatNumber(evaluation.constant_mae(), 6),
                          FormatNumber(evaluation.constant_rmse(), 6),
                          FormatNumber(static_cast<double>(evaluation.duration_ns()) / kNsPerSecond)});
  }
  output.Print(list, table);
  return ExitCode::kDone;
}

}  // namespace

void AddRunCurveCommand(CLI::App& run, Invocation& invocation) {
  CLI::App* curve = AddCommand(run, "curve", "Shows a run's evaluations on its validation and test splits",
                               {"packtrain run curve RUN", "packtrain run curve RUN --csv"});
  const auto name = std::make_shared<std::string>();
  curve->add_option("RUN", *name, "Name of a run, or an unambiguous beginning of it")->required();
  OnChosenPrintTable(*curve, invocation, [name](const GlobalOptions& global, Output& output) {
    return ShowCurve(*name, global, output);
  });
}

}  // namespace packtrain::cli
