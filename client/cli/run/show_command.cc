// packtrain run show
#include <memory>
#include <sstream>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_argument.h"
#include "client/cli/run/run_json.h"
#include "client/cli/run/run_summary.h"
#include "proto/base/escape_controls.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

// The keys of `run list`, the rest of the description, and those of `run summary`.
Json ToJson(const RunSummary& read) {
  Json json = MessageToJson(read.run, RunRules());
  json.update(SummaryToJson(read));
  return json;
}

// Nothing where no run follows.
std::string FollowerToText(const v1::Run& run) {
  if (run.followed_by().empty()) return "";
  return "followed  by run " + run.followed_by() + " from step " + std::to_string(run.followed_at_step()) +
         " on, with another number of ranks\n";
}

// How many there are, and are to be where that is planned.
std::string StepsToText(const v1::Run& run) {
  const std::uint64_t planned = run.description().planned_steps();
  return std::to_string(run.steps()) + (planned > 0 ? " of " + std::to_string(planned) : "") + " steps";
}

std::string ToText(const RunSummary& read) {
  const v1::Run& run = read.run;
  const v1::RunDescription& about = run.description();
  std::ostringstream text;
  text << "run " << run.run() << ": " << EnumWord(run.state()) << ", " << StepsToText(run)
       << (run.message().empty() ? "" : "; " + base::EscapeControls(run.message())) << '\n'
       << "model     " << base::EscapeControls(about.model()) << ", "
       << FormatCount(static_cast<double>(about.parameters())) << " parameters, target "
       << base::EscapeControls(about.target()) << '\n'
       << "data      " << about.dataset() << ", plan " << about.plan_fingerprint() << '\n'
       << "trained   " << about.world_size() << " ranks on " << base::EscapeControls(about.hardware().name())
       << ", " << base::EscapeControls(about.precision() + ", " + about.engine()) << '\n'
       << "started   " << FormatTime(run.started_ms()) << '\n'
       << FollowerToText(run) << '\n'
       << SummaryToText(read);
  return text.str();
}

absl::StatusOr<ExitCode> ShowRun(const std::string& name, const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(const RunSummary read, ReadSummary(name, global));
  output.Print(ToJson(read), ToText(read));
  return ExitCode::kDone;
}

}  // namespace

void AddRunShow(CLI::App& run, Invocation& invocation) {
  CLI::App* show = AddCommand(run, "show", "Shows what a run was, and its summary",
                              {"packtrain run show RUN", "packtrain run show RUN --json"});
  const auto name = std::make_shared<std::string>();
  AddRunArgument(*show, *name);
  OnChosen(*show, invocation, WithFlags(name, ShowRun));
}

}  // namespace packtrain::cli
