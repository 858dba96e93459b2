#include "server/runs/run_changes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/runs/run_limits.h"

namespace packtrain::runs {
namespace {

// 0 on the wire: not given.
std::optional<std::uint64_t> PlannedSteps(const v1::RunDescription& description) {
  if (description.planned_steps() == 0) return std::nullopt;
  return description.planned_steps();
}

// Whether an attempt has steps to make on the run. Where nobody has planned how many there are to be, it has.
bool HasStepsToMake(const v1::StartRunRequest& request, const v1::Run& run) {
  std::optional<std::uint64_t> planned = PlannedSteps(request.description());
  if (!planned.has_value()) planned = PlannedSteps(run.description());
  return !planned.has_value() || *planned > request.first_step();
}

}  // namespace

v1::Run NewRun(const v1::StartRunRequest& request, std::string name, std::int64_t now_ms) {
  v1::Run run;
  run.set_run(std::move(name));
  run.set_state(v1::RUN_STATE_RUNNING);
  *run.mutable_description() = request.description();
  run.mutable_description()->set_world_size(std::max(1u, request.description().world_size()));
  run.set_started_ms(now_ms);
  run.set_last_report_ms(now_ms);
  run.set_attempts(1);
  return run;
}

void Resume(const v1::StartRunRequest& request, std::int64_t date_ms, v1::Run& run) {
  run.set_state(v1::RUN_STATE_RUNNING);
  run.set_last_report_ms(date_ms);
  run.clear_finished_ms();
  run.clear_message();
  run.clear_end_step();
  if (request.description().on_corrupt() == v1::ON_CORRUPT_SKIP) {
    run.mutable_description()->set_on_corrupt(v1::ON_CORRUPT_SKIP);
  }
  if (run.has_followed_at_step() && !HasStepsToMake(request, run)) return;
  run.clear_followed_by();
  run.clear_followed_at_step();
  const std::optional<std::uint64_t> planned = PlannedSteps(request.description());
  if (planned.has_value()) run.mutable_description()->set_planned_steps(*planned);
}

void PutEnd(const v1::FinishRunRequest& request, std::int64_t date_ms, v1::Run& run) {
  run.set_state(request.state());
  run.set_message(CutMessage(request.message(), run.description()));
  run.set_finished_ms(date_ms);
  if (request.has_end_step()) run.set_end_step(request.end_step());
  CompleteRun(run);
}

void CompleteRun(v1::Run& run) {
  const std::optional<std::uint64_t> planned = PlannedSteps(run.description());
  if (run.state() == v1::RUN_STATE_DONE && !run.has_end_step() && planned.has_value())
    run.set_end_step(*planned);
  if (run.has_end_step()) run.set_steps(std::min(run.steps(), run.end_step()));
}

}  // namespace packtrain::runs
