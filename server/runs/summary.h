// Figures of one run out of its step records.
#ifndef PACKTRAIN_SERVER_RUNS_SUMMARY_H_
#define PACKTRAIN_SERVER_RUNS_SUMMARY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "server/runs/run_store.h"
#include "server/runs/step_selection.h"

namespace packtrain::runs {

// Mean, quantiles by linear interpolation (quantile q lies at position (n - 1) q of the sorted values) and
// sample standard deviation. All 0 for no values.
v1::Quantiles Describe(std::vector<double> values);

// What is added up over steps.
struct StepSums {
  std::uint64_t steps = 0;
  double seconds = 0;
  double wait_seconds = 0;
  RealCounts real;
};
StepSums SumOf(std::span<const TrainingStep> steps);

// A run and its steps: one record for each (rank, step), and the ranks joined.
struct RunSteps {
  v1::Run run;
  std::vector<RankStep> of_ranks;
  std::vector<TrainingStep> joined;
};
// Codes as RunStore::Get.
absl::StatusOr<RunSteps> ReadRunSteps(const RunStore& store, std::string_view run);

// The steps whose time may enter a figure, and how many may not.
struct CountedSteps {
  std::vector<TrainingStep> steps;
  std::uint64_t left_out = 0;
};
CountedSteps WholeSteps(const RunSteps& run);
CountedSteps SteadySteps(const RunSteps& run);

// Nanoseconds of one phase of a step.
using PhaseReader = std::function<std::uint64_t(const wire::StepRecord& record)>;
// Distribution of a phase over steps, in microseconds.
v1::Quantiles DescribePhase(std::span<const TrainingStep> steps, const PhaseReader& phase);

// Mean over the complete epochs: those whose steps are all there and measured, and after which another
// begins. The time of an epoch's first step holds what lies before it.
std::optional<double> SecondsPerEpoch(const RunSteps& run);

// Codes as RunStore::Get.
absl::StatusOr<v1::SummarizeRunResponse> Summarize(const RunStore& store, std::string_view run);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_SUMMARY_H_
