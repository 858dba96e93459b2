#include "server/runs/run_records.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"
#include "server/rocks/big_endian.h"
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
  stored.clear_lost_records();
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

rocks::Change PlaceEntry(std::string_view run, std::uint64_t place) {
  std::string value;
  rocks::AppendBigEndian(place, value);
  return {Family::kRuns, PlaceKey(run), std::move(value)};
}

absl::StatusOr<std::uint64_t> ParsePlace(std::string_view value) {
  if (value.size() == sizeof(std::uint64_t)) return *rocks::ParseBigEndian<std::uint64_t>(value);
  return absl::DataLossError("the run database holds a damaged place of a run");
}

}  // namespace packtrain::runs
