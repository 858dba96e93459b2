#include "server/analysis/step_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/analysis/significance.h"

namespace packtrain::analysis {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr double kMicrosecondsPerNs = 1e-3;

double QuantileOfSorted(std::span<const double> sorted, double q) {
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

template <typename Takes>
CountedSteps Counted(const LoadedRun& run, Takes takes) {
  CountedSteps counted;
  for (const TrainingStep& step : run.joined) {
    if (!takes(step)) continue;
    if (IsComplete(step, run.record.description().world_size())) {
      counted.steps.push_back(step);
    } else {
      ++counted.left_out;
    }
  }
  return counted;
}

// Follows the steps of a run and adds up each epoch from its first step on.
class EpochClock {
 public:
  void Add(const TrainingStep& step, bool complete) {
    const bool follows = last_step_.has_value() && step.slowest.step == *last_step_ + 1;
    const bool turns = follows && step.slowest.epoch != epoch_;
    if (turns) Close();
    if (turns || step.slowest.step == 0 || (step.flags & wire::kFirstOfEpoch) != 0) {
      running_ns_ = 0;
      whole_ = true;
    } else if (!follows) {
      whole_ = false;
    }
    whole_ = whole_ && complete;
    running_ns_ += static_cast<double>(step.slowest.total_ns);
    last_step_ = step.slowest.step;
    epoch_ = step.slowest.epoch;
  }

  std::optional<double> MeanSeconds() const {
    if (epochs_ == 0) return std::nullopt;
    return sum_ns_ * kSecondsPerNs / epochs_;
  }

 private:
  void Close() {
    if (!whole_) return;
    sum_ns_ += running_ns_;
    ++epochs_;
  }

  std::optional<std::uint64_t> last_step_;
  std::uint64_t epoch_ = 0;
  double running_ns_ = 0;  // of the epoch in progress
  bool whole_ = false;     // no step of it is missing or unmeasured
  double sum_ns_ = 0;
  int epochs_ = 0;
};

}  // namespace

v1::Quantiles Describe(std::vector<double> values) {
  v1::Quantiles quantiles;
  if (values.empty()) return quantiles;
  const Moments moments = MomentsOf(values);
  std::sort(values.begin(), values.end());
  quantiles.set_mean(moments.mean);
  quantiles.set_median(QuantileOfSorted(values, 0.5));
  quantiles.set_p5(QuantileOfSorted(values, 0.05));
  quantiles.set_p90(QuantileOfSorted(values, 0.9));
  quantiles.set_p95(QuantileOfSorted(values, 0.95));
  quantiles.set_p99(QuantileOfSorted(values, 0.99));
  quantiles.set_stddev(std::sqrt(moments.variance));
  return quantiles;
}

StepSums SumOf(std::span<const TrainingStep> steps) {
  StepSums sums;
  sums.steps = steps.size();
  double total_ns = 0;
  double wait_ns = 0;
  for (const TrainingStep& step : steps) {
    total_ns += static_cast<double>(step.slowest.total_ns);
    wait_ns += static_cast<double>(step.slowest.wait_ns);
    sums.real.graphs += step.real.graphs;
    sums.real.nodes += step.real.nodes;
    sums.real.edges += step.real.edges;
  }
  sums.seconds = total_ns * kSecondsPerNs;
  sums.wait_seconds = wait_ns * kSecondsPerNs;
  return sums;
}

CountedSteps WholeSteps(const LoadedRun& run) {
  return Counted(run, [](const TrainingStep&) { return true; });
}

CountedSteps SteadySteps(const LoadedRun& run) { return Counted(run, IsSteady); }

v1::Quantiles DescribePhase(std::span<const TrainingStep> steps, const wire::StepPhase& phase) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const TrainingStep& step : steps) {
    values.push_back(static_cast<double>(phase.nanoseconds(step.slowest)) * kMicrosecondsPerNs);
  }
  return Describe(std::move(values));
}

std::optional<double> SecondsPerEpoch(const LoadedRun& run) {
  EpochClock clock;
  for (const TrainingStep& step : run.joined) {
    clock.Add(step, IsComplete(step, run.record.description().world_size()));
  }
  return clock.MeanSeconds();
}

}  // namespace packtrain::analysis
