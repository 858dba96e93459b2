// Packs graphs in one pass that looks ahead: what `packed` does each epoch, and `tuple` once.
#ifndef PACKTRAIN_SERVER_BATCHING_LOOKAHEAD_PACKER_H_
#define PACKTRAIN_SERVER_BATCHING_LOOKAHEAD_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/batching/budgeted_policy.h"
#include "server/batching/lookahead_window.h"
#include "server/batching/padding_budget.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

// Default number of graphs that wait to be packed.
inline constexpr std::uint32_t kDefaultLookahead = 64;
// How far from the oldest the older graph of a pair may be. Bounds the work for a batch, which is
// kPairDepth * lookahead.
inline constexpr std::size_t kPairDepth = 16;

// Graphs wait in a window of `lookahead`, which the order refills after every take. The oldest one opens each
// batch, so none waits longer than `lookahead` batches. It is then filled up:
// 1. while more than two graph slots and, in nodes and in edges, more than `nearly_full` of room are left: with
//    the oldest graph that fits;
// 2. then, again and again: with the graph, or the pair of graphs, of the largest value (LookaheadWindow) that
//    fits; ties: a graph alone, then the oldest. A pair holds one of the kPairDepth oldest.
// The batch closes when nothing that waits fits.
struct PackingRules {
  PaddingBudget limits;
  std::size_t lookahead = kDefaultLookahead;
  LookaheadWindow::Room nearly_full;
};

// The rules with `nearly_full` at two and a half graphs of the mean size, over those of `graphs` within the
// limits.
PackingRules RulesFor(const PaddingBudget& limits, std::size_t lookahead, const GraphSizes& sizes,
                      std::span<const std::uint32_t> graphs);

// Puts each graph of `order` into one batch. A graph above the limits is set aside when it would enter the
// window.
BatchList PackInOnePass(const PackingRules& rules, std::span<const std::uint32_t> order,
                        const GraphSizes& sizes, wire::Oversize action);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_LOOKAHEAD_PACKER_H_
