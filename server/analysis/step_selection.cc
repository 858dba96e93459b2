#include "server/analysis/step_selection.h"

#include "proto/base/status_macros.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace packtrain::analysis {
namespace {

bool ComesBefore(const RankStep& a, const RankStep& b) {
  return std::tie(a.record.step, a.rank, a.attempt) < std::tie(b.record.step, b.rank, b.attempt);
}

void Join(const RankStep& step, TrainingStep& joined) {
  const wire::StepRecord& record = step.record;
  if (joined.ranks == 0 || record.total_ns > joined.slowest.total_ns) joined.slowest = record;
  ++joined.ranks;
  joined.flags |= record.flags;
  joined.real.graphs += record.real.graphs;
  joined.real.nodes += record.real.nodes;
  joined.real.edges += record.real.edges;
  joined.all_measured = joined.all_measured && IsMeasured(record);
}

}  // namespace

void SortSteps(std::vector<RankStep>& steps) {
  if (std::is_sorted(steps.begin(), steps.end(), ComesBefore)) return;
  std::sort(steps.begin(), steps.end(), ComesBefore);
}

std::vector<RankStep> KeepLastAttempts(std::vector<RankStep> steps) {
  const auto superseded = [](const RankStep& earlier, const RankStep& later) {
    return earlier.record.step == later.record.step && earlier.rank == later.rank;
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (kept > 0 && superseded(steps[kept - 1], steps[i])) --kept;
    steps[kept++] = steps[i];
  }
  steps.resize(kept);
  return steps;
}

std::vector<TrainingStep> JoinRanks(const std::vector<RankStep>& steps) {
  std::vector<TrainingStep> joined;
  for (const RankStep& step : steps) {
    if (joined.empty() || joined.back().slowest.step != step.record.step) joined.emplace_back();
    Join(step, joined.back());
  }
  return joined;
}

bool IsMeasured(const wire::StepRecord& record) {
  std::uint64_t longest_ns = 0;
  wire::ForEachStepColumn([&](const auto& column) {
    if (column.unit != wire::StepUnit::kNanoseconds) return;
    longest_ns = std::max(longest_ns, static_cast<std::uint64_t>(column.Of(record)));
  });
  return record.total_ns > 0 && longest_ns <= std::uint64_t{1} << 53;
}

bool IsComplete(const TrainingStep& step, std::uint32_t world_size) {
  return step.all_measured && step.ranks == world_size;
}

void MarkWarmUp(std::span<wire::StepRecord> steps, std::uint64_t first_step) {
  for (wire::StepRecord& record : steps) {
    const bool warms_up = record.step >= first_step && record.step - first_step < wire::kWarmUpSteps;
    record.flags = warms_up ? record.flags | wire::kWarmUp : record.flags & ~std::uint32_t{wire::kWarmUp};
  }
}

bool IsSteady(const TrainingStep& step) { return (step.flags & wire::kNotSteady) == 0; }

}  // namespace packtrain::analysis
