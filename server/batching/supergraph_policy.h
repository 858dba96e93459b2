// `supergraph`: graphs one after another in blocks of nodes, none of whose edges is longer than a block.
#ifndef PACKTRAIN_SERVER_BATCHING_SUPERGRAPH_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_SUPERGRAPH_POLICY_H_

#include "absl/status/status.h"
#include "proto/wire/batch_spec.h"
#include "server/batching/padding_budget.h"
#include "server/batching/plan_request.h"
#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// A batch is a supergraph (arXiv 1906.11786) of K blocks of S node slots, K * S = N. Graphs join it in their
// order until the next one would break N - 1 nodes or M graphs; they may straddle blocks. A graph of bandwidth
// w <= S has edges only inside a block and between two that follow one another. Every batch has the shape (M+1,
// N, most edges of a batch of the epoch), with S as its block_nodes.
//
// Above the budget are graphs with w > S or n > N - 1. Under Oversize::kAlone each is a batch of its own, right
// after the batch that was open when its turn came, with ceil(n / S') blocks of S' = up64(w) node slots, at
// least 64, and up64(edges) edge slots; where n fills the blocks, as many edge slots as edges.
//
// Default of M: K * S, at most kMaxBatchGraphs. Create needs GraphSizes::bandwidth, else FAILED_PRECONDITION.
extern const PolicyKind kSupergraphPolicy;

// M and N of a spec of that policy that passes CheckSpec. E is what a batch may have at most.
PaddingBudget SupergraphBudget(const wire::BatchSpec& spec);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SUPERGRAPH_POLICY_H_
