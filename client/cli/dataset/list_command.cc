// packtrain dataset list
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/dataset/dataset_json.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

absl::StatusOr<ExitCode> ListDatasets(const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(
      const std::vector<v1::Dataset> datasets,
      CallService(global, [](client::ServiceClient& services) { return services.ListDatasets(); }));
  Json list = Json::array();
  Table table{{"name", "version", "graphs", "nodes", "edges", "bytes"}, {}};
  for (const v1::Dataset& dataset : datasets) {
    list.push_back(MessageToJson(dataset, DatasetRules()));
    table.rows.push_back({dataset.name(), dataset.version(), std::to_string(dataset.graphs()),
                          std::to_string(dataset.nodes().total()), std::to_string(dataset.edges().total()),
                          std::to_string(dataset.bytes())});
  }
  output.Print(list, table);
  return ExitCode::kDone;
}

}  // namespace

void AddDatasetList(CLI::App& dataset, Invocation& invocation) {
  CLI::App* list = AddCommand(dataset, "list", "Lists the data sets of a server",
                              {"packtrain dataset list", "packtrain dataset list --csv"});
  OnChosenPrintTable(*list, invocation, ListDatasets);
}

}  // namespace packtrain::cli
