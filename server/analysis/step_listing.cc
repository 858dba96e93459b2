#include "server/analysis/step_listing.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"
#include "server/analysis/step_sampling.h"

namespace packtrain::analysis {
namespace {

std::vector<RankStep> Sampled(const std::vector<RankStep>& steps, std::size_t max_points) {
  std::vector<std::uint64_t> totals;
  totals.reserve(steps.size());
  for (const RankStep& step : steps) totals.push_back(step.record.total_ns);
  std::vector<RankStep> sampled;
  for (const std::size_t index : SamplePoints(totals, max_points)) sampled.push_back(steps[index]);
  return sampled;
}

bool IsAskedFor(const RankStep& step, const v1::ListStepsRequest& request) {
  if (request.has_first_step() && step.record.step < request.first_step()) return false;
  return !request.has_end_step() || step.record.step < request.end_step();
}

// Sends `window` as one block for each (rank, attempt) in it.
absl::Status SendWindow(std::span<const RankStep> window, ListedBlockSink send) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<wire::StepRecord>> by_reporter;
  for (const RankStep& step : window) by_reporter[{step.rank, step.attempt}].push_back(step.record);
  for (const auto& [reporter, records] : by_reporter) {
    v1::ListStepsResponse block;
    block.set_rank(reporter.first);
    block.set_attempt(reporter.second);
    *block.mutable_steps() = wire::ToStepBlock(records);
    ABSL_RETURN_IF_ERROR(send(block));
  }
  return absl::OkStatus();
}

// Index after the last record of a window of at most kMaxListedRows steps that starts at `begin`.
std::size_t WindowEnd(const std::vector<RankStep>& steps, std::size_t begin) {
  std::size_t end = begin;
  for (std::size_t distinct = 0; end < steps.size(); ++end) {
    const bool new_step = end == begin || steps[end].record.step != steps[end - 1].record.step;
    if (new_step && ++distinct > kMaxListedRows) break;
  }
  return end;
}

}  // namespace

absl::Status ListSteps(std::vector<RankStep> steps, const CountedRecords& counted,
                       const v1::ListStepsRequest& request, ListedBlockSink send) {
  if (!request.all_attempts()) steps = counted.Keep(std::move(steps));
  std::erase_if(steps, [&request](const RankStep& step) { return !IsAskedFor(step, request); });
  if (request.max_points() > 0) steps = Sampled(steps, request.max_points());
  for (std::size_t begin = 0; begin < steps.size();) {
    const std::size_t end = WindowEnd(steps, begin);
    ABSL_RETURN_IF_ERROR(SendWindow(std::span(steps).subspan(begin, end - begin), send));
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace packtrain::analysis
