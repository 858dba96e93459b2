#include "server/batching/epoch_summary.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "server/batching/size_totals.h"

namespace packtrain::batching {
namespace {

std::uint64_t Load(const wire::Shape& real) { return std::uint64_t{real.nodes} + real.edges; }

// 0 of 0 slots count as filled.
double Ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct SlotSums {
  std::uint64_t graphs = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;

  void Add(const wire::Shape& shape) {
    graphs += shape.graphs;
    nodes += shape.nodes;
    edges += shape.edges;
  }
};

// How often each of the shapes comes; 0 for those of `settled` that never do.
std::vector<wire::ShapeCount> CountShapes(std::vector<wire::Shape> shapes,
                                          std::span<const wire::Shape> settled) {
  std::sort(shapes.begin(), shapes.end());
  std::vector<wire::ShapeCount> counts;
  for (const wire::Shape& shape : shapes) {
    if (counts.empty() || counts.back().shape != shape) counts.push_back({shape, 0});
    ++counts.back().batches;
  }
  for (const wire::Shape& shape : settled) {
    if (!std::binary_search(shapes.begin(), shapes.end(), shape)) counts.push_back({shape, 0});
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const wire::ShapeCount& a, const wire::ShapeCount& b) { return a.batches > b.batches; });
  return counts;
}

class EpochTotals {
 public:
  EpochTotals(const BatchList& list, const RankAssignment& ranks, const BatchPolicy& policy,
              std::uint32_t max_edges)
      : list_(list), ranks_(ranks), policy_(policy), max_edges_(max_edges) {}

  void AddBatches(wire::PlanSummary& summary) const;
  void AddFill(wire::PlanSummary& summary) const;
  void AddOversize(wire::PlanSummary& summary) const;
  std::uint64_t BoundBatches() const;
  double RankLoadMeanOverMax() const;

 private:
  // Batches with graphs that are delivered.
  std::uint64_t size() const { return std::min<std::uint64_t>(list_.size(), ranks_.slots()); }
  wire::Shape Real(std::uint64_t batch) const { return list_.Real(batch); }
  double StepMeanOverMax(std::uint64_t step) const;

  const BatchList& list_;
  const RankAssignment& ranks_;
  const BatchPolicy& policy_;
  const std::uint32_t max_edges_;
};

void EpochTotals::AddBatches(wire::PlanSummary& summary) const {
  summary.batches = size();
  summary.min_graphs = Real(0).graphs;
  for (std::uint64_t batch = 0; batch < size(); ++batch) {
    const std::uint32_t graphs = Real(batch).graphs;
    summary.graphs += graphs;
    summary.min_graphs = std::min(summary.min_graphs, graphs);
    summary.max_graphs = std::max(summary.max_graphs, graphs);
  }
  for (std::uint64_t batch = size(); batch < list_.size(); ++batch)
    summary.dropped_graphs += Real(batch).graphs;
  summary.mean_graphs = Ratio(summary.graphs, summary.batches);
}

void EpochTotals::AddFill(wire::PlanSummary& summary) const {
  SlotSums real;
  SlotSums padded;
  std::vector<wire::Shape> shapes(size());
  for (std::uint64_t batch = 0; batch < size(); ++batch) {
    shapes[batch] = policy_.PaddedShape(list_.At(batch), max_edges_);
    real.Add(Real(batch));
    padded.Add(shapes[batch]);
  }
  summary.fill_graphs = Ratio(real.graphs, padded.graphs);
  summary.fill_nodes = Ratio(real.nodes, padded.nodes);
  summary.fill_edges = Ratio(real.edges, padded.edges);
  summary.shapes = CountShapes(std::move(shapes), policy_.SettledShapes());
}

void EpochTotals::AddOversize(wire::PlanSummary& summary) const {
  summary.oversize = policy_.oversize().count;
  summary.oversize_graphs = policy_.oversize().listed;
}

std::uint64_t EpochTotals::BoundBatches() const {
  std::uint64_t alone = 0;
  SizeTotals totals;
  for (std::uint64_t batch = 0; batch < size(); ++batch) {
    if (policy_.IsOversize(list_.At(batch))) {
      ++alone;
      continue;
    }
    const wire::Shape real = Real(batch);
    totals.graphs += real.graphs;
    totals.nodes += real.nodes;
    totals.edges += real.edges;
  }
  return alone + policy_.BoundBatches(totals);
}

double EpochTotals::StepMeanOverMax(std::uint64_t step) const {
  const std::uint64_t begin = ranks_.FirstOfStep(step);
  const std::uint64_t ranks = ranks_.FirstOfStep(step + 1) - begin;
  const std::uint64_t end = std::min(begin + ranks, size());
  std::uint64_t sum = 0;
  std::uint64_t max = 0;
  for (std::uint64_t batch = begin; batch < end; ++batch) {
    sum += Load(Real(batch));
    max = std::max(max, Load(Real(batch)));
  }
  return Ratio(sum, max) / static_cast<double>(max == 0 ? 1 : ranks);
}

double EpochTotals::RankLoadMeanOverMax() const {
  double sum = 0;
  for (std::uint64_t step = 0; step < ranks_.steps(); ++step) sum += StepMeanOverMax(step);
  return sum / static_cast<double>(ranks_.steps());
}

}  // namespace

wire::PlanSummary SummarizeEpoch(const BatchList& list, const RankAssignment& ranks, const BatchPolicy& policy,
                                 std::uint32_t max_edges) {
  const EpochTotals totals(list, ranks, policy, max_edges);
  wire::PlanSummary summary;
  summary.steps = ranks.steps();
  summary.budget = policy.budget(max_edges);
  summary.bound_batches = totals.BoundBatches();
  summary.rank_load_mean_over_max = totals.RankLoadMeanOverMax();
  totals.AddBatches(summary);
  totals.AddFill(summary);
  totals.AddOversize(summary);
  return summary;
}

}  // namespace packtrain::batching
