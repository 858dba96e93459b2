// What supergraphs hold where the widest or the largest graphs are left out (arXiv 1906.11786, Tables 4 and 6).
#ifndef PACKTRAIN_SERVER_BATCHING_SUPERGRAPH_TABLE_H_
#define PACKTRAIN_SERVER_BATCHING_SUPERGRAPH_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

// What of a graph has a limit.
enum class LimitBy { kNodes, kBandwidth, kBandwidthAsRead };

struct SupergraphRow {
  LimitBy by = LimitBy::kNodes;
  std::uint32_t limit = 0;           // graphs above it are left out
  double share = 0;                  // of the split's graphs that are kept
  double graphs_per_supergraph = 0;  // mean over the epoch
};

// Rows by nodes, by bandwidth and, unless `bandwidth_as_read` is empty, by that, each by ascending limit. All
// supergraphs have the K * S node slots and the M of the spec, and are cut from the request's epoch as the
// policy cuts them; a graph of more than K * S - 1 nodes is never kept. The limits are the powers of two up to
// the first that the whole split is within, those that keep no graph left out; S for bandwidths, so that this
// row is the policy's under Oversize::kSkip; and for nodes the least limit that keeps as many graphs as S does.
//
// `bandwidth_as_read`: of each graph, as GraphSizes. Codes as Plan::Create; graphs above the budget are no
// error.
absl::StatusOr<std::vector<SupergraphRow>> TabulateSupergraphs(
    const PlanRequest& request, std::span<const std::uint32_t> bandwidth_as_read);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SUPERGRAPH_TABLE_H_
