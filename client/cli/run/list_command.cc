// packtrain run list
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_json.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"

namespace packtrain::cli {
namespace {

Table RunsTable(const std::vector<v1::Run>& runs) {
  Table table{{"run", "state", "model", "dataset", "policy", "G", "ranks", "seed", "steps", "hardware"}, {}};
  for (const v1::Run& run : runs) {
    const v1::RunDescription& about = run.description();
    table.rows.push_back({run.run(), wire::StateName(run.state()), about.model(),
                          SplitReference(about.dataset()).first, wire::PolicyName(about.spec()),
                          std::to_string(about.spec().graphs()), std::to_string(about.world_size()),
                          std::to_string(about.spec().seed()), std::to_string(run.steps()),
                          wire::HardwareName(about.hardware())});
  }
  return table;
}

absl::StatusOr<ExitCode> ListRuns(const std::string& where, const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(
      const std::vector<v1::Run> runs,
      CallService(global, [&](client::ServiceClient& services) { return services.ListRuns(where); }));
  Json list = Json::array();
  for (const v1::Run& run : runs) list.push_back(RunToJson(run));
  output.Print(list, RunsTable(runs));
  return ExitCode::kDone;
}

}  // namespace

void AddRunList(CLI::App& run, Invocation& invocation) {
  CLI::App* list =
      AddCommand(run, "list", "Lists runs, newest first",
                 {"packtrain run list", "packtrain run list --where 'model = schnet and state = done'",
                  "packtrain run list --where 'label.name ~ ^night' --csv"});
  const auto where = std::make_shared<std::string>();
  list->add_option("--where", *where,
                   "KEY OP VALUE joined by and, or, not, brackets; OP: = != < <= > >= ~ (regular expression)");
  OnChosenPrintTable(*list, invocation, WithFlags(where, ListRuns));
}

}  // namespace packtrain::cli
