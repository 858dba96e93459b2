#include "server/runs/run_records.h"

#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"
#include "server/runs/run_keys.h"

namespace packtrain::runs {

absl::StatusOr<std::vector<wire::StepRecord>> ParseSteps(std::string_view value) {
  v1::StepBlock block;
  ABSL_RETURN_IF_ERROR(ParseRecord(value, block));
  return wire::FromStepBlock(block);
}

rocks::Change DescriptionEntry(const v1::Run& run) {
  v1::Run stored = run;
  stored.clear_steps();
  stored.clear_last_report_ms();
  return {Family::kRuns, DescriptionKey(run.run()), stored.SerializeAsString()};
}

rocks::Change ProgressEntry(std::string_view run, std::uint64_t steps, std::int64_t last_report_ms) {
  v1::Run progress;
  progress.set_steps(steps);
  progress.set_last_report_ms(last_report_ms);
  return {Family::kRuns, ProgressKey(run), progress.SerializeAsString()};
}

rocks::Change AttemptEntry(const Reporter& reporter, v1::StartRunRequest request) {
  request.clear_description();
  return {Family::kRuns, AttemptKey(reporter), request.SerializeAsString()};
}

}  // namespace packtrain::runs
