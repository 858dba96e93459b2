#include "server/analysis/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "server/analysis/energy.h"
#include "server/analysis/step_figures.h"

namespace packtrain::analysis {
namespace {

constexpr double kSecondsPerNs = 1e-9;

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Each phase is a field of PhaseTimes, as a test checks.
void SetPhases(std::span<const TrainingStep> steps, v1::PhaseTimes& phases) {
  const google::protobuf::Descriptor& fields = *v1::PhaseTimes::descriptor();
  for (const wire::StepPhase& phase : wire::kStepPhases) {
    const google::protobuf::FieldDescriptor* field = fields.FindFieldByName(std::string(phase.name));
    phases.GetReflection()->MutableMessage(&phases, field)->CopyFrom(DescribePhase(steps, phase));
  }
}

// What share of slots holds something real, over batches of which both counts are known.
class FillOfSlots {
 public:
  void Add(std::uint64_t real, std::uint64_t slots) {
    if (slots == 0) return;
    real_ += static_cast<double>(real);
    slots_ += static_cast<double>(slots);
  }
  // 0: not known.
  double Share() const { return Ratio(real_, slots_); }

 private:
  double real_ = 0;
  double slots_ = 0;
};

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
  FillOfSlots graphs, nodes, edges;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> shapes;
  double capture_ns = 0;
  for (const RankStep& step : steps) {
    const wire::StepRecord& record = step.record;
    capture_ns += static_cast<double>(record.capture_ns);
    if ((record.flags & wire::kCapture) != 0) summary.set_captures(summary.captures() + 1);
    if (record.real.graphs == 0) continue;
    graphs.Add(record.real.graphs, record.padded.graphs);
    nodes.Add(record.real.nodes, record.padded.nodes);
    edges.Add(record.real.edges, record.padded.edges);
    if (record.padded != wire::Shape()) {
      shapes.emplace(record.padded.graphs, record.padded.nodes, record.padded.edges);
    }
  }
  summary.set_capture_seconds(capture_ns * kSecondsPerNs);
  summary.set_shapes(shapes.size());
  summary.mutable_fill()->set_graphs(graphs.Share());
  summary.mutable_fill()->set_nodes(nodes.Share());
  summary.mutable_fill()->set_edges(edges.Share());
}

// Steps, by step, of which a rank that had graphs reports a loss that is no number.
std::uint64_t StepsWithoutLoss(const std::vector<RankStep>& steps) {
  std::uint64_t count = 0;
  std::optional<std::uint64_t> last;
  for (const RankStep& step : steps) {
    if (step.record.real.graphs == 0 || std::isfinite(step.record.loss) || last == step.record.step) continue;
    last = step.record.step;
    ++count;
  }
  return count;
}

void CountLeftOut(const LoadedRun& run, v1::SummarizeRunResponse& summary) {
  const auto has_no_metric = [](const v1::Evaluation& evaluation) {
    if (evaluation.has_accuracy()) return !std::isfinite(evaluation.accuracy());
    return !std::isfinite(evaluation.mae()) || !std::isfinite(evaluation.rmse());
  };
  summary.set_losses_left_out(StepsWithoutLoss(run.of_ranks));
  summary.set_evaluations_left_out(
      static_cast<std::uint64_t>(std::ranges::count_if(run.evaluations, has_no_metric)));
}

void SetFromSamples(const LoadedRun& run, v1::SummarizeRunResponse& summary) {
  if (const auto peak = run.samples.peak_device_bytes()) summary.set_peak_device_bytes(*peak);
  if (const auto joules = JoulesPerGraph(run, summary.steady().seconds_per_graph())) {
    summary.set_joules_per_graph(*joules);
  }
}

}  // namespace

v1::SummarizeRunResponse Summarize(const LoadedRun& run) {
  v1::SummarizeRunResponse summary;
  summary.set_run(run.record.run());
  *summary.mutable_steady() = FiguresOf(SteadySteps(run));
  *summary.mutable_whole() = FiguresOf(WholeSteps(run));
  SetShapesAndCaptures(run.of_ranks, summary);
  if (const std::optional<double> seconds = SecondsPerEpoch(run)) summary.set_seconds_per_epoch(*seconds);
  SetFromSamples(run, summary);
  const std::vector<v1::EventTotal> events = run.events.Longest();
  summary.mutable_events()->Add(events.begin(), events.end());
  *summary.mutable_corrupt_graphs() = run.corrupt_graphs.summary();
  CountLeftOut(run, summary);
  summary.set_lost_records(run.record.lost_records());
  return summary;
}

}  // namespace packtrain::analysis
