// packtrain run list
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_json.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

// The keys of a row that the table shows, and its heads.
const std::vector<std::string> kKeys = {"run",          "state",      "model", "dataset", "policy",
                                        "batch_graphs", "world_size", "seed",  "steps",   "hardware"};
const std::vector<std::string> kHeads = {"run", "state", "model", "dataset", "policy",
                                         "G",   "ranks", "seed",  "steps",   "hardware"};

absl::StatusOr<ExitCode> ListRuns(const std::string& where, const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(
      const std::vector<v1::Run> runs,
      CallService(global, [&](client::ServiceClient& services) { return services.ListRuns(where); }));
  Json list = Json::array();
  for (const v1::Run& run : runs) list.push_back(RunRow(run));
  Table table = TableOf(list, kKeys, FormatExact);
  table.columns = kHeads;
  output.Print(list, table);
  return ExitCode::kDone;
}

}  // namespace

void AddRunList(CLI::App& run, Invocation& invocation) {
  CLI::App* list =
      AddCommand(run, "list", "Lists runs, newest first",
                 {"packtrain run list", "packtrain run list --where 'model = schnet and state = done'",
                  "packtrain run list --where 'label.name ~ ^night' --csv"});
  const auto where = std::make_shared<std::string>();
  list->add_option(
      "--where", *where,
      "KEY OP VALUE joined by and, or, not, brackets; OP: = != < <= > >= ~ (regular expression); KEY: run, "
      "state, steps, policy, dataset, learning_rate, seed, label.NAME, ... (a wrong one lists all). Text is "
      "equal as text; < and > of labels compare numbers");
  OnChosenPrintTable(*list, invocation, WithFlags(where, ListRuns));
}

}  // namespace packtrain::cli
