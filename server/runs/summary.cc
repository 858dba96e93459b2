#include "server/runs/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "server/runs/energy.h"
#include "server/runs/significance.h"

namespace packtrain::runs {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr double kMicrosecondsPerNs = 1e-3;

double QuantileOfSorted(std::span<const double> sorted, double q) {
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

template <typename Takes>
CountedSteps Counted(const RunSteps& run, Takes takes) {
  CountedSteps counted;
  for (const TrainingStep& step : run.joined) {
    if (!takes(step)) continue;
    if (IsComplete(step, run.run.description().world_size())) {
      counted.steps.push_back(step);
    } else {
      ++counted.left_out;
    }
  }
  return counted;
}

void SetPhases(std::span<const TrainingStep> steps, v1::PhaseTimes& phases) {
  using Record = wire::StepRecord;
  *phases.mutable_wait() = DescribePhase(steps, &Record::wait_ns);
  *phases.mutable_copy() = DescribePhase(steps, &Record::copy_ns);
  *phases.mutable_forward() = DescribePhase(steps, &Record::forward_ns);
  *phases.mutable_backward() = DescribePhase(steps, &Record::backward_ns);
  *phases.mutable_optimizer() = DescribePhase(steps, &Record::optimizer_ns);
  *phases.mutable_comm() = DescribePhase(steps, &Record::comm_ns);
  *phases.mutable_total() = DescribePhase(steps, &Record::total_ns);
  *phases.mutable_server_build() = DescribePhase(steps, &Record::server_build_ns);
  *phases.mutable_server_queue() = DescribePhase(steps, &Record::server_queue_ns);
}

v1::StepFigures FiguresOf(const CountedSteps& counted) {
  const StepSums sums = SumOf(counted.steps);
  v1::StepFigures figures;
  figures.set_steps(sums.steps);
  SetPhases(counted.steps, *figures.mutable_phases_us());
  figures.set_graphs_per_second(Ratio(static_cast<double>(sums.real.graphs), sums.seconds));
  figures.set_nodes_per_second(Ratio(static_cast<double>(sums.real.nodes), sums.seconds));
  figures.set_edges_per_second(Ratio(static_cast<double>(sums.real.edges), sums.seconds));
  figures.set_seconds_per_graph(Ratio(sums.seconds, static_cast<double>(sums.real.graphs)));
  figures.set_wait_share(Ratio(sums.wait_seconds, sums.seconds));
  figures.set_left_out(counted.left_out);
  return figures;
}

// Fill, shapes and captures are of ranks, not of joined steps: each rank has shapes of its own.
void SetShapesAndCaptures(const std::vector<RankStep>& steps, v1::SummarizeRunResponse& summary) {
  RealCounts real;
  RealCounts slots;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> shapes;
  double capture_ns = 0;
  for (const RankStep& step : steps) {
    const wire::StepRecord& record = step.record;
    capture_ns += static_cast<double>(record.capture_ns);
    if ((record.flags & wire::kCapture) != 0) summary.set_captures(summary.captures() + 1);
    if (record.real.graphs == 0) continue;
    real.graphs += record.real.graphs;
    real.nodes += record.real.nodes;
    real.edges += record.real.edges;
    slots.graphs += record.padded.graphs;
    slots.nodes += record.padded.nodes;
    slots.edges += record.padded.edges;
    shapes.emplace(record.padded.graphs, record.padded.nodes, record.padded.edges);
  }
  summary.set_capture_seconds(capture_ns * kSecondsPerNs);
  summary.set_shapes(shapes.size());
  summary.mutable_fill()->set_graphs(
      Ratio(static_cast<double>(real.graphs), static_cast<double>(slots.graphs)));
  summary.mutable_fill()->set_nodes(Ratio(static_cast<double>(real.nodes), static_cast<double>(slots.nodes)));
  summary.mutable_fill()->set_edges(Ratio(static_cast<double>(real.edges), static_cast<double>(slots.edges)));
}

// Peak memory and energy.
absl::Status SetFromSamples(const RunStore& store, const RunSteps& steps, v1::SummarizeRunResponse& summary) {
  EnergyReadings readings;
  absl::Status read = store.ReadSamples(summary.run(), [&](const Reporter& reporter, const v1::Sample& sample) {
    AddReading(reporter, sample, readings);
    if (sample.has_device_memory_bytes()) {
      summary.set_peak_device_bytes(
          std::max<std::uint64_t>(summary.peak_device_bytes(), sample.device_memory_bytes()));
    }
    return absl::OkStatus();
  });
  ABSL_RETURN_IF_ERROR(read);
  const std::optional<double> watts = SteadyWatts(steps, readings);
  const double seconds_per_graph = summary.steady().seconds_per_graph();
  if (watts.has_value() && seconds_per_graph > 0) summary.set_joules_per_graph(*watts * seconds_per_graph);
  return absl::OkStatus();
}

// In place of a bound on the names that a client may use.
constexpr std::size_t kMostEventNames = 64;

absl::Status SetFromEvents(const RunStore& store, v1::SummarizeRunResponse& summary) {
  std::map<std::string, v1::EventTotal> totals;
  absl::Status read = store.ReadEvents(summary.run(), [&totals](const v1::Event& event) {
    v1::EventTotal& total = totals[event.name()];
    total.set_name(event.name());
    total.set_count(total.count() + 1);
    total.set_seconds(total.seconds() + static_cast<double>(event.duration_ns()) * kSecondsPerNs);
    return absl::OkStatus();
  });
  ABSL_RETURN_IF_ERROR(read);
  std::vector<v1::EventTotal> longest;
  longest.reserve(totals.size());
  for (auto& [name, total] : totals) longest.push_back(std::move(total));
  std::ranges::stable_sort(longest, std::greater(), &v1::EventTotal::seconds);
  longest.resize(std::min(longest.size(), kMostEventNames));
  summary.mutable_events()->Add(longest.begin(), longest.end());
  return absl::OkStatus();
}

constexpr int kMostCorruptGraphsListed = 1000;

absl::Status SetFromCorruptGraphs(const RunStore& store, v1::SummarizeRunResponse& response) {
  v1::CorruptGraphSummary& summary = *response.mutable_corrupt_graphs();
  std::vector<std::uint64_t> graphs;
  absl::Status read = store.ReadCorruptGraphs(response.run(), [&](const v1::CorruptGraphs& batch) {
    summary.set_count(summary.count() + static_cast<std::uint64_t>(batch.graphs_size()));
    graphs.insert(graphs.end(), batch.graphs().begin(), batch.graphs().end());
    for (const std::uint64_t graph : batch.graphs()) {
      if (summary.list_size() == kMostCorruptGraphsListed) break;
      v1::CorruptGraph& listed = *summary.add_list();
      listed.set_graph(graph);
      listed.set_step(batch.step());
      listed.set_epoch(batch.epoch());
      listed.set_batch_index(batch.batch_index());
      listed.set_split(batch.split());
    }
    return absl::OkStatus();
  });
  std::sort(graphs.begin(), graphs.end());
  summary.set_graphs(static_cast<std::uint64_t>(std::unique(graphs.begin(), graphs.end()) - graphs.begin()));
  summary.set_truncated(summary.count() > static_cast<std::uint64_t>(summary.list_size()));
  return read;
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

absl::StatusOr<RunSteps> ReadRunSteps(const RunStore& store, std::string_view run) {
  ABSL_ASSIGN_OR_RETURN(v1::Run found, store.Get(run));
  ABSL_ASSIGN_OR_RETURN(std::vector<RankStep> all, ReadAllSteps(store, found.run()));
  RunSteps steps;
  steps.run = std::move(found);
  steps.of_ranks = KeepLastAttempts(std::move(all));
  steps.joined = JoinRanks(steps.of_ranks);
  return steps;
}

CountedSteps WholeSteps(const RunSteps& run) {
  return Counted(run, [](const TrainingStep&) { return true; });
}

CountedSteps SteadySteps(const RunSteps& run) { return Counted(run, IsSteady); }

v1::Quantiles DescribePhase(std::span<const TrainingStep> steps, const PhaseReader& phase) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const TrainingStep& step : steps) {
    values.push_back(static_cast<double>(phase(step.slowest)) * kMicrosecondsPerNs);
  }
  return Describe(std::move(values));
}

std::optional<double> SecondsPerEpoch(const RunSteps& run) {
  EpochClock clock;
  for (const TrainingStep& step : run.joined) {
    clock.Add(step, IsComplete(step, run.run.description().world_size()));
  }
  return clock.MeanSeconds();
}

absl::StatusOr<v1::SummarizeRunResponse> Summarize(const RunStore& store, std::string_view run) {
  ABSL_ASSIGN_OR_RETURN(const RunSteps steps, ReadRunSteps(store, run));
  v1::SummarizeRunResponse summary;
  summary.set_run(steps.run.run());
  *summary.mutable_steady() = FiguresOf(SteadySteps(steps));
  *summary.mutable_whole() = FiguresOf(WholeSteps(steps));
  SetShapesAndCaptures(steps.of_ranks, summary);
  if (const std::optional<double> seconds = SecondsPerEpoch(steps)) summary.set_seconds_per_epoch(*seconds);
  ABSL_RETURN_IF_ERROR(SetFromSamples(store, steps, summary));
  ABSL_RETURN_IF_ERROR(SetFromEvents(store, summary));
  ABSL_RETURN_IF_ERROR(SetFromCorruptGraphs(store, summary));
  return summary;
}

}  // namespace packtrain::runs
