// Chooses the few padded shapes that suit many batches best.
#ifndef PACKTRAIN_SERVER_BATCHING_SHAPE_LADDER_H_
#define PACKTRAIN_SERVER_BATCHING_SHAPE_LADDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/batching/slot_pair.h"

namespace packtrain::batching {

// Batches that need the same slots, and their number.
struct Need {
  SlotPair slots;
  std::uint64_t batches = 1;
};

// Costs of a slot, at most 2^20 each.
struct SlotCosts {
  std::uint32_t node = 1;
  std::uint32_t edge = 1;
};

// A ladder is a chain of shapes, each of which holds the one before it; a batch takes the first rung that holds
// it. Returns, ascending, the ladder with the smallest cost summed over the batches, of all ladders of at most
// `rungs` >= 1 shapes out of `candidates` that end with the last candidate. The result is exact, by dynamic
// programming over (rungs, last rung). `candidates` ascend, and the last one holds all others and all needs.
// Time: candidates * (rungs * candidates + needs).
std::vector<SlotPair> CheapestLadder(std::span<const Need> needs, std::span<const SlotPair> candidates,
                                     std::size_t rungs, const SlotCosts& costs);

inline constexpr std::size_t kLadderCounts = 32;
inline constexpr std::size_t kLadderShares = 24;

// The cheapest ladder up to `top` for batches that need these slots; `top` holds each of them. The other
// candidates are the node counts times the edge counts of the batches: all counts where there are no more than
// kLadderCounts. Else, of all n in their order from 0, those at n * i div kLadderShares for i from 1 to
// kLadderShares - 1, those that stand a half, a quarter, an eighth, ... of a share before the last, and the
// last.
std::vector<SlotPair> BuildLadder(std::span<const SlotPair> batches, const SlotPair& top, std::size_t rungs,
                                  const SlotCosts& costs);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SHAPE_LADDER_H_
