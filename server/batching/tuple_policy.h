// `tuple`: which sizes go together is settled for the whole split, alike for every epoch; an epoch draws the
// graphs that have these sizes.
#ifndef PACKTRAIN_SERVER_BATCHING_TUPLE_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_TUPLE_POLICY_H_

#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// The split is sorted by size, which is its two-dimensional histogram of (n_node, n_edge), and dealt out so
// that large and small ones follow one another evenly. PackingRules (lookahead_packer.h) make packs of that.
// They know sizes alone, so the packs of sizes are those of every epoch; the graphs of a size take its places
// in the order of the epoch, and the packs come shuffled. With Order::kNone every epoch has the same batches in
// the same order. (Packs made longest first, each graph into the fullest that has room, are the published way.
// They leave the small graphs to the end, where M closes the packs: 1.06 to 1.25 times the bound on default
// budgets.) A BudgetedPolicy whose M is ceil(5 (G+1) / 4) where the spec gives none. Oversize graphs are
// shuffled as packs of their own.
extern const PolicyKind kTuplePolicy;

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_TUPLE_POLICY_H_
