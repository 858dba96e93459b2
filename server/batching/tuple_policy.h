// `tuple`: which sizes go together is decided once for the whole split and is the same in every epoch; an epoch
// draws the graphs that have these sizes.
#ifndef PACKTRAIN_SERVER_BATCHING_TUPLE_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_TUPLE_POLICY_H_

#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// The split is sorted by size, that is, by its two-dimensional histogram of (n_node, n_edge), and dealt out so
// that large and small graphs alternate evenly. PackingRules (lookahead_packer.h) make packs of that. They look
// at sizes only, so the packs of sizes are the same in every epoch; the graphs of a size take its places in the
// order of the epoch, and the packs are shuffled. With Order::kNone every epoch has the same batches in the
// same order.
//
// (The published way is to pack the largest graphs first, each into the fullest pack that has room. It leaves
// the small graphs to the end, where M closes the packs: 1.06 to 1.25 times the bound on default budgets.)
//
// A BudgetedPolicy whose default M is ceil(5 (G+1) / 4). Oversize graphs are shuffled as packs of their own.
extern const PolicyKind kTuplePolicy;

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_TUPLE_POLICY_H_
