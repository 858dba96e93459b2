#include "server/batching/plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/batching/batch_list.h"
#include "server/batching/epoch_order.h"
#include "server/batching/policy_kind.h"
#include "server/batching/rank_assignment.h"
#include "server/batching/size_totals.h"
#include "server/batching/slots.h"

namespace packtrain::batching {
namespace {

std::uint64_t Load(const Shape& real) { return std::uint64_t{real.nodes} + real.edges; }

// Nothing out of nothing is full.
double Ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct SlotSums {
  std::uint64_t graphs = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;

  void Add(const Shape& shape) {
    graphs += shape.graphs;
    nodes += shape.nodes;
    edges += shape.edges;
  }
};

std::vector<ShapeCount> CountShapes(std::vector<Shape> shapes) {
  std::sort(shapes.begin(), shapes.end());
  std::vector<ShapeCount> counts;
  for (const Shape& shape : shapes) {
    if (counts.empty() || counts.back().shape != shape) counts.push_back({shape, 0});
    ++counts.back().batches;
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const ShapeCount& a, const ShapeCount& b) { return a.batches > b.batches; });
  return counts;
}

class EpochPlan final : public Plan {
 public:
  EpochPlan(std::unique_ptr<const BatchPolicy> policy, BatchList batches, RankAssignment ranks)
      : policy_(std::move(policy)), batches_(std::move(batches)), ranks_(ranks) {
    batches_.Truncate(ranks_.delivered());
  }

  std::uint64_t steps() const override { return ranks_.steps(); }
  absl::StatusOr<PlannedBatch> BatchAt(std::uint64_t index) const override;
  PlanSummary Summarize() const override;
  std::uint64_t memory_bytes() const override { return sizeof(*this) + batches_.memory_bytes(); }

 private:
  Shape Padded(std::uint64_t batch) const { return policy_->PaddedShape(batches_.Real(batch)); }
  void AddBatches(PlanSummary& summary) const;
  void AddFill(PlanSummary& summary) const;
  void AddOversize(PlanSummary& summary) const;
  std::uint64_t BoundBatches() const;
  double StepMeanOverMax(std::uint64_t step) const;
  double RankLoadMeanOverMax() const;

  const std::unique_ptr<const BatchPolicy> policy_;
  BatchList batches_;
  const RankAssignment ranks_;
};

absl::StatusOr<PlannedBatch> EpochPlan::BatchAt(std::uint64_t index) const {
  if (index >= ranks_.slots()) {
    return absl::OutOfRangeError(
        absl::StrCat("batch ", index, " is past the epoch's end; it has ", ranks_.slots(), " batches"));
  }
  PlannedBatch batch;
  batch.index = index;
  batch.step = ranks_.StepOf(index);
  batch.rank = ranks_.RankOf(index);
  batch.empty = ranks_.IsEmpty(index);
  if (batch.empty) {
    batch.padded = Padded(ranks_.FirstOfStep(batch.step));
    return batch;
  }
  batch.graphs = batches_.Graphs(index);
  batch.real = batches_.Real(index);
  batch.padded = Padded(index);
  batch.oversize = policy_->IsOversize(batch.real);
  return batch;
}

PlanSummary EpochPlan::Summarize() const {
  PlanSummary summary;
  summary.steps = steps();
  summary.budget = policy_->budget();
  summary.bound_batches = BoundBatches();
  summary.rank_load_mean_over_max = RankLoadMeanOverMax();
  AddBatches(summary);
  AddFill(summary);
  AddOversize(summary);
  return summary;
}

void EpochPlan::AddBatches(PlanSummary& summary) const {
  summary.batches = batches_.size();
  summary.min_graphs = batches_.Real(0).graphs;
  for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
    const std::uint32_t graphs = batches_.Real(batch).graphs;
    summary.graphs += graphs;
    summary.min_graphs = std::min(summary.min_graphs, graphs);
    summary.max_graphs = std::max(summary.max_graphs, graphs);
  }
  summary.mean_graphs = Ratio(summary.graphs, summary.batches);
}

void EpochPlan::AddFill(PlanSummary& summary) const {
  SlotSums real;
  SlotSums padded;
  std::vector<Shape> shapes(batches_.size());
  for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
    shapes[batch] = Padded(batch);
    real.Add(batches_.Real(batch));
    padded.Add(shapes[batch]);
  }
  summary.fill_graphs = Ratio(real.graphs, padded.graphs);
  summary.fill_nodes = Ratio(real.nodes, padded.nodes);
  summary.fill_edges = Ratio(real.edges, padded.edges);
  summary.shapes = CountShapes(std::move(shapes));
}

void EpochPlan::AddOversize(PlanSummary& summary) const {
  summary.oversize = policy_->oversize().count;
  summary.oversize_graphs = policy_->oversize().listed;
}

std::uint64_t EpochPlan::BoundBatches() const {
  std::uint64_t alone = 0;
  SizeTotals totals;
  for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
    const Shape real = batches_.Real(batch);
    if (policy_->IsOversize(real)) {
      ++alone;
      continue;
    }
    totals.graphs += real.graphs;
    totals.nodes += real.nodes;
    totals.edges += real.edges;
  }
  return alone + policy_->BoundBatches(totals);
}

double EpochPlan::StepMeanOverMax(std::uint64_t step) const {
  const std::uint64_t begin = ranks_.FirstOfStep(step);
  const std::uint64_t ranks = ranks_.FirstOfStep(step + 1) - begin;
  const std::uint64_t end = std::min<std::uint64_t>(begin + ranks, batches_.size());
  std::uint64_t sum = 0;
  std::uint64_t max = 0;
  for (std::uint64_t batch = begin; batch < end; ++batch) {
    sum += Load(batches_.Real(batch));
    max = std::max(max, Load(batches_.Real(batch)));
  }
  return Ratio(sum, max) / static_cast<double>(max == 0 ? 1 : ranks);
}

double EpochPlan::RankLoadMeanOverMax() const {
  double sum = 0;
  for (std::uint64_t step = 0; step < steps(); ++step) sum += StepMeanOverMax(step);
  return sum / static_cast<double>(steps());
}

absl::Status CheckSplit(const PlanRequest& request) {
  const std::span<const std::uint32_t> split = request.split;
  if (split.empty()) return absl::InvalidArgumentError("--split names a split without graphs");
  if (std::adjacent_find(split.begin(), split.end(), std::greater_equal<>()) != split.end()) {
    return absl::InvalidArgumentError("the graph indices of a split must ascend");
  }
  const std::size_t graphs = std::min(request.sizes.n_node.size(), request.sizes.n_edge.size());
  if (split.back() < graphs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the split names graph ", split.back(), "; there are sizes of ", graphs, " graphs"));
}

absl::Status CheckRequest(const PlanRequest& request) {
  if (request.world_size == 0) return absl::InvalidArgumentError("--world-size must be at least 1");
  if (absl::Status status = CheckSplit(request); !status.ok()) return status;
  return CheckSpec(request.spec);
}

std::vector<std::uint32_t> OrderOf(const PlanRequest& request) {
  std::vector<std::uint32_t> order(request.split.begin(), request.split.end());
  if (request.spec.order == Order::kFull) ShuffleForEpoch(request.spec.seed, request.epoch, order);
  return order;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Plan>> Plan::Create(const PlanRequest& request) {
  if (absl::Status status = CheckRequest(request); !status.ok()) return status;
  auto policy = KindOf(request.spec.policy).create(request);
  if (!policy.ok()) return policy.status();
  BatchList batches = (*policy)->Cut(OrderOf(request), request.sizes);
  const RankAssignment ranks(batches.size(), request.world_size, request.spec.drop_last);
  if (ranks.steps() == 0) {
    return absl::FailedPreconditionError(absl::StrCat("--drop-last leaves no step: the epoch has ",
                                                      batches.size(), " batches for ", request.world_size,
                                                      " ranks"));
  }
  return std::make_unique<EpochPlan>(*std::move(policy), std::move(batches), ranks);
}

}  // namespace packtrain::batching
