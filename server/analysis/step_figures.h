// Figures of sets of steps, out of which summaries and metrics are made.
#ifndef PACKTRAIN_SERVER_ANALYSIS_STEP_FIGURES_H_
#define PACKTRAIN_SERVER_ANALYSIS_STEP_FIGURES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_columns.h"
#include "server/analysis/loaded_run.h"
#include "server/analysis/step_selection.h"

namespace packtrain::analysis {

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

// The steps whose time may enter a figure, and how many may not.
struct CountedSteps {
  std::vector<TrainingStep> steps;
  std::uint64_t left_out = 0;
};
CountedSteps WholeSteps(const LoadedRun& run);
CountedSteps SteadySteps(const LoadedRun& run);

// Distribution of a phase over steps, in microseconds.
v1::Quantiles DescribePhase(std::span<const TrainingStep> steps, const wire::StepPhase& phase);

// Mean over the complete epochs: those whose steps are all there and measured, and after which another
// begins. The time of an epoch's first step holds what lies before it.
std::optional<double> SecondsPerEpoch(const LoadedRun& run);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_STEP_FIGURES_H_
