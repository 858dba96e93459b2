#include "server/batching/shape_ladder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/numeric/int128.h"

namespace packtrain::batching {
namespace {

using Cost = absl::uint128;

// One candidate and what is known of it.
struct Candidate {
  SlotPair slots;
  std::uint64_t cost = 0;            // of one batch
  std::uint64_t held = 0;            // batches that it holds
  std::vector<std::uint32_t> below;  // the candidates that it holds, but for itself
};

// The best ladder that ends with a candidate.
struct Best {
  Cost cost = 0;           // of the batches that the candidate holds
  std::uint32_t next = 0;  // the rung below; the candidate itself where one rung fewer does as well
};

std::uint64_t BatchesHeld(const SlotPair& shape, std::span<const Need> needs) {
  std::uint64_t held = 0;
  for (const Need& need : needs) held += shape.Holds(need.slots) ? need.batches : 0;
  return held;
}

std::vector<Candidate> Survey(std::span<const Need> needs, std::span<const SlotPair> candidates,
                              const SlotCosts& costs) {
  std::vector<Candidate> surveyed(candidates.size());
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    Candidate& candidate = surveyed[i];
    candidate.slots = candidates[i];
    candidate.cost =
        std::uint64_t{costs.node} * candidates[i].nodes + std::uint64_t{costs.edge} * candidates[i].edges;
    candidate.held = BatchesHeld(candidates[i], needs);
    for (std::uint32_t j = 0; j < i; ++j) {
      if (candidates[i].Holds(candidates[j])) candidate.below.push_back(j);
    }
  }
  return surveyed;
}

std::vector<Best> OneRung(const std::vector<Candidate>& candidates) {
  std::vector<Best> best(candidates.size());
  for (std::uint32_t i = 0; i < best.size(); ++i) {
    best[i] = {Cost{candidates[i].held} * candidates[i].cost, i};
  }
  return best;
}

// The best ladders of one rung more than `fewer` has.
std::vector<Best> OneRungMore(const std::vector<Candidate>& candidates, const std::vector<Best>& fewer) {
  std::vector<Best> best(candidates.size());
  for (std::uint32_t i = 0; i < best.size(); ++i) {
    best[i] = {fewer[i].cost, i};
    for (const std::uint32_t j : candidates[i].below) {
      const Cost cost = fewer[j].cost + Cost{candidates[i].held - candidates[j].held} * candidates[i].cost;
      if (cost < best[i].cost) best[i] = {cost, j};
    }
  }
  return best;
}

// Of ascending values those at equal shares, and closer together towards the greatest, which rungs near the top
// are for.
std::vector<std::uint32_t> ThinOut(const std::vector<std::uint32_t>& values) {
  const std::size_t n = values.size();
  std::vector<std::uint32_t> picked;
  for (std::size_t share = 1; share < kLadderShares; ++share)
    picked.push_back(values[n * share / kLadderShares]);
  for (std::size_t left = n / kLadderShares / 2; left > 0; left /= 2) picked.push_back(values[n - 1 - left]);
  picked.push_back(values.back());
  return picked;
}

// The values that rungs are made of, ascending, each once.
std::vector<std::uint32_t> PickCounts(std::vector<std::uint32_t> values) {
  std::sort(values.begin(), values.end());
  std::vector<std::uint32_t> distinct;
  std::unique_copy(values.begin(), values.end(), std::back_inserter(distinct));
  if (distinct.size() <= kLadderCounts) return distinct;
  std::vector<std::uint32_t> picked = ThinOut(values);
  picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
  return picked;
}

std::vector<std::uint32_t> PickCounts(std::span<const SlotPair> batches, std::uint32_t SlotPair::*count) {
  std::vector<std::uint32_t> values;
  values.reserve(batches.size());
  for (const SlotPair& batch : batches) values.push_back(batch.*count);
  return PickCounts(std::move(values));
}

struct Grid {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> edges;

  // The least pair of the grid that holds `need`.
  SlotPair Snap(const SlotPair& need) const {
    return {*std::ranges::lower_bound(nodes, need.nodes), *std::ranges::lower_bound(edges, need.edges)};
  }
};

// The grid's pairs that batches need, ascending.
std::vector<Need> SnapAll(const Grid& grid, std::span<const SlotPair> batches) {
  std::vector<SlotPair> snapped;
  snapped.reserve(batches.size());
  for (const SlotPair& batch : batches) snapped.push_back(grid.Snap(batch));
  std::sort(snapped.begin(), snapped.end());
  std::vector<Need> needs;
  for (const SlotPair& slots : snapped) {
    if (needs.empty() || needs.back().slots != slots) needs.push_back({slots, 0});
    ++needs.back().batches;
  }
  return needs;
}

// No pair with fewer nodes or fewer edges holds the same needs.
bool IsTight(const SlotPair& pair, std::span<const Need> needs) {
  SlotPair greatest;
  for (const Need& need : needs) {
    if (!pair.Holds(need.slots)) continue;
    greatest.nodes = std::max(greatest.nodes, need.slots.nodes);
    greatest.edges = std::max(greatest.edges, need.slots.edges);
  }
  return greatest == pair;
}

// A pair that is not tight costs more than the tight one for the same needs.
std::vector<SlotPair> TightPairs(const Grid& grid, std::span<const Need> needs) {
  std::vector<SlotPair> pairs;
  for (const std::uint32_t nodes : grid.nodes) {
    for (const std::uint32_t edges : grid.edges) {
      if (IsTight({nodes, edges}, needs)) pairs.push_back({nodes, edges});
    }
  }
  return pairs;
}

}  // namespace

std::vector<SlotPair> CheapestLadder(std::span<const Need> needs, std::span<const SlotPair> candidates,
                                     std::size_t rungs, const SlotCosts& costs) {
  const std::vector<Candidate> surveyed = Survey(needs, candidates, costs);
  std::vector<std::vector<Best>> best = {OneRung(surveyed)};
  while (best.size() < rungs) best.push_back(OneRungMore(surveyed, best.back()));
  auto at = static_cast<std::uint32_t>(candidates.size() - 1);
  std::vector<SlotPair> ladder = {candidates[at]};
  for (std::size_t rung = best.size(); rung-- > 0;) {
    if (best[rung][at].next == at) continue;
    at = best[rung][at].next;
    ladder.push_back(candidates[at]);
  }
  std::reverse(ladder.begin(), ladder.end());
  return ladder;
}

std::vector<SlotPair> BuildLadder(std::span<const SlotPair> batches, const SlotPair& top, std::size_t rungs,
                                  const SlotCosts& costs) {
  const Grid grid = {PickCounts(batches, &SlotPair::nodes), PickCounts(batches, &SlotPair::edges)};
  const std::vector<Need> needs = SnapAll(grid, batches);
  std::vector<SlotPair> candidates = TightPairs(grid, needs);
  if (candidates.empty() || candidates.back() != top) candidates.push_back(top);
  return CheapestLadder(needs, candidates, rungs, costs);
}

}  // namespace packtrain::batching
