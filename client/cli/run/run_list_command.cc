// packtrain run list
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/run/run_commands.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"

namespace packtrain::cli {
namespace {

// "qm9@0123" -> {"qm9", "0123"}.
std::pair<std::string, std::string> SplitReference(const std::string& reference) {
  const std::size_t at = reference.find('@');
  if (at == std::string::npos) return {reference, ""};
  return {reference.substr(0, at), reference.substr(at + 1)};
}

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

std::string FormatTime(std::int64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[sizeof("2025-01-31T12:00:00Z") + 16];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc));
}

Json RunToJson(const v1::Run& run) {
  const v1::RunDescription& about = run.description();
  const auto [dataset, version] = SplitReference(about.dataset());
  Json labels = Json::object();
  for (const auto& [key, value] :
       std::map<std::string, std::string>(about.labels().begin(), about.labels().end())) {
    labels[key] = value;
  }
  return {{"run", run.run()},
          {"state", wire::StateName(run.state())},
          {"model", about.model()},
          {"target", about.target()},
          {"dataset", dataset},
          {"version", version},
          {"policy", wire::PolicyName(about.spec())},
          {"batch_graphs", about.spec().graphs()},
          {"precision", about.precision()},
          {"engine", about.engine()},
          {"world_size", about.world_size()},
          {"seed", about.spec().seed()},
          {"model_seed", about.model_seed()},
          {"steps", run.steps()},
          {"started", FormatTime(run.started_ms())},
          {"hardware", wire::HardwareName(about.hardware())},
          {"labels", labels}};
}

void AddRunListCommand(CLI::App& run, Invocation& invocation) {
  CLI::App* list =
      AddCommand(run, "list", "Lists runs, newest first",
                 {"packtrain run list", "packtrain run list --where 'model = schnet and state = done'",
                  "packtrain run list --where 'label.name ~ ^night' --csv"});
  const auto where = std::make_shared<std::string>();
  list->add_option("--where", *where,
                   "KEY OP VALUE joined by and, or, not, brackets; OP: = != < <= > >= ~ (regular expression)");
  OnChosenPrintTable(*list, invocation, [where](const GlobalOptions& global, Output& output) {
    return ListRuns(*where, global, output);
  });
}

}  // namespace packtrain::cli
