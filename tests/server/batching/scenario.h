// Data sets, specs and worlds for property tests, drawn from a seed.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHING_SCENARIO_H_
#define PACKTRAIN_TESTS_SERVER_BATCHING_SCENARIO_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/batching/plan.h"
#include "tests/server/batching/dice.h"

namespace packtrain::batching {

// Owns what a PlanRequest borrows.
struct Scenario {
  std::string name;  // the seed, and what is odd about the sizes
  std::vector<std::uint32_t> n_node;
  std::vector<std::uint32_t> n_edge;
  std::vector<std::uint32_t> split;
  wire::BatchSpec spec;
  std::uint64_t epoch = 0;
  std::vector<std::uint32_t> bandwidth = {};

  PlanRequest Request(const wire::World& world) const {
    const GraphSizes sizes = {.n_node = n_node, .n_edge = n_edge, .bandwidth = bandwidth};
    return {spec, sizes, split, epoch, world, nullptr};
  }

  // The split less what skip_above leaves out.
  std::vector<std::uint32_t> Slice() const {
    std::vector<std::uint32_t> slice = split;
    if (!spec.skip_above) return slice;
    const auto& measure = spec.skip_above == wire::SkipAbove::kNodes ? n_node : bandwidth;
    std::erase_if(slice, [&](std::uint32_t graph) { return measure.at(graph) > spec.skip_above_limit; });
    return slice;
  }

  bool has_blocks() const { return spec.policy == wire::Policy::kSupergraph; }

  // Whether a batch of this graph alone is within a plan's budget.
  bool Fits(std::uint32_t graph, const wire::Shape& budget) const {
    if (n_node[graph] >= budget.nodes) return false;
    if (!has_blocks()) return n_edge[graph] <= budget.edges;
    return bandwidth[graph] <= budget.block_nodes && n_edge[graph] <= wire::kMaxSlots;
  }
};

// Seeds 0 .. kScenarios-1 are what the property tests draw.
inline constexpr std::uint64_t kScenarios = 1800;

// The seed counts the combinations of sizes, policy and order through, so that all come equally often. Sizes:
// uniform, all equal, two sizes, one giant (first, inside, last), heavy tail (in any order, ascending,
// descending), two that alternate, all above the budget, no edges, one graph, fewer graphs than ranks, a real
// list of tests/data/sizes. The rest is drawn: bandwidths, split, pad, limits, oversize, epoch, balance, cost,
// slice.
Scenario DrawScenario(std::uint64_t seed);

// One to four segments that fit an epoch of `batches` batches, some of which end with a balanced window, and
// the ranks after them.
wire::World DrawWorld(Dice& dice, std::uint64_t batches, bool drop_last);

// The ranks at a step.
inline std::uint32_t RanksAt(const wire::World& world, std::uint64_t step) {
  for (const wire::Segment& segment : world.segments) {
    if (step < segment.steps) return segment.world_size;
    step -= segment.steps;
  }
  return world.size;
}

// Calls `check` with the plan of every scenario for 1, 2, 3 and 8 ranks and for a drawn world with segments,
// wherever there is one. A failure names the scenario's seed and the world; nothing comes after it. Fails where
// a combination of sizes, policy and order had no plan.
using PlanCheck = std::function<void(const Scenario& scenario, const wire::World& world, const Plan& plan)>;
void ForEachPlan(const PlanCheck& check);

// All batches of all ranks by index. They borrow from the plan.
std::vector<PlannedBatch> AllBatches(const Plan& plan);

inline bool Equal(const PlannedBatch& a, const PlannedBatch& b) {
  return a.index == b.index && a.step == b.step && a.rank == b.rank && std::ranges::equal(a.graphs, b.graphs) &&
         a.real == b.real && a.padded == b.padded && a.empty == b.empty && a.oversize == b.oversize;
}

}  // namespace packtrain::batching

#endif  // PACKTRAIN_TESTS_SERVER_BATCHING_SCENARIO_H_
