#include "server/batching/rank_balance.h"

#include <algorithm>
#include <span>
#include <vector>

#include "server/batching/step_split.h"

namespace packtrain::batching {
namespace {

// Appends the graphs of one step to a list, a batch for each rank that has any. Keeps its memory from step to
// step.
class StepBatches {
 public:
  StepBatches(const GraphSizes& sizes, BatchList& list) : sizes_(sizes), list_(list) {}

  // `rank_of` holds the rank of each graph. Ranks are 0 .. some number, none of them without graphs.
  void Append(std::span<const std::uint32_t> graphs, std::span<const std::uint32_t> rank_of) {
    CountRanks(graphs, rank_of);
    by_rank_.resize(graphs.size());
    for (std::size_t k = 0; k < graphs.size(); ++k) by_rank_[ends_[rank_of[k]]++] = graphs[k];
    std::size_t begin = 0;
    for (std::size_t rank = 0; rank < counts_.size(); begin = ends_[rank++]) {
      list_.Append(std::span(by_rank_).subspan(begin, counts_[rank].graphs), counts_[rank]);
    }
  }

 private:
  void CountRanks(std::span<const std::uint32_t> graphs, std::span<const std::uint32_t> rank_of) {
    const std::size_t ranks = std::size_t{*std::max_element(rank_of.begin(), rank_of.end())} + 1;
    counts_.assign(ranks, {});
    for (std::size_t k = 0; k < graphs.size(); ++k) {
      wire::Shape& count = counts_[rank_of[k]];
      ++count.graphs;
      count.nodes += sizes_.n_node[graphs[k]];
      count.edges += sizes_.n_edge[graphs[k]];
    }
    ends_.assign(ranks, 0);
    for (std::size_t rank = 1; rank < ranks; ++rank) ends_[rank] = ends_[rank - 1] + counts_[rank - 1].graphs;
  }

  const GraphSizes& sizes_;
  BatchList& list_;
  std::vector<wire::Shape> counts_;  // by rank
  std::vector<std::uint32_t> ends_;  // by rank, in by_rank_
  std::vector<std::uint32_t> by_rank_;
};

// Calls `step` with the ranks and the batches [first, last) of every step that holds any of `batches` batches.
template <typename Step>
void ForEachStep(std::uint64_t batches, std::span<const RankAssignment::Stretch> stretches, Step step) {
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::uint64_t next = i + 1 < stretches.size() ? stretches[i + 1].first_index : batches;
    const std::uint64_t end = std::min(next, batches);
    const std::uint32_t ranks = stretches[i].world_size;
    for (std::uint64_t first = stretches[i].first_index; first < end; first += ranks) {
      step(ranks, first, std::min(first + ranks, end));
    }
  }
}

}  // namespace

RankBalance::RankBalance(const PlanRequest& request, bool budgeted)
    : budgeted_(budgeted),
      graphs_(request.spec.graphs),
      cost_(request.spec.cost.value_or(wire::CostCoefficients())),
      sizes_(request.sizes),
      seed_{request.spec.seed, request.epoch} {}

BatchList RankBalance::Arrange(const BatchList& cut, const RankAssignment& ranks) const {
  return budgeted_ ? RegroupBatches(cut, ranks) : SplitSteps(cut, ranks);
}

// No overflow: there are at most 2^24 graphs in a batch and 2^31 of the rest, and coefficients are below 2^20.
std::uint64_t RankBalance::CostOf(const wire::Shape& real) const {
  return std::uint64_t{cost_.graph} * real.graphs + std::uint64_t{cost_.node} * real.nodes +
         std::uint64_t{cost_.edge} * real.edges;
}

BatchList RankBalance::SplitSteps(const BatchList& cut, const RankAssignment& ranks) const {
  BatchList balanced;
  balanced.Reserve(cut.graphs().size());
  StepSplit split(graphs_);
  StepBatches batches(sizes_, balanced);
  std::vector<std::uint64_t> costs;
  ForEachStep(cut.size(), ranks.stretches(),
              [&](std::uint32_t world_size, std::size_t first, std::size_t last) {
                const std::span<const std::uint32_t> graphs = cut.Graphs(first, last);
                costs.clear();
                for (const std::uint32_t graph : graphs)
                  costs.push_back(CostOf({1, sizes_.n_node[graph], sizes_.n_edge[graph]}));
                batches.Append(graphs, split.RanksOf(costs, world_size));
              });
  return balanced;
}

BatchList RankBalance::RegroupBatches(const BatchList& cut, const RankAssignment& ranks) const {
  std::vector<std::uint64_t> costs(cut.size());
  for (std::size_t batch = 0; batch < costs.size(); ++batch) costs[batch] = CostOf(cut.Real(batch));
  BatchList balanced;
  balanced.Reserve(cut.graphs().size());
  for (const std::uint32_t batch : OrderByWindows(costs, ranks.stretches(), seed_)) {
    balanced.Append(cut.Graphs(batch), cut.Real(batch));
  }
  return balanced;
}

}  // namespace packtrain::batching
