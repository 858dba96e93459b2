// The limits of a budgeted batch.
#ifndef PACKTRAIN_SERVER_BATCHING_PADDING_BUDGET_H_
#define PACKTRAIN_SERVER_BATCHING_PADDING_BUDGET_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/shape.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

// M, N and E: a batch holds at most M real graphs, N - 1 real nodes and E real edges, and is padded to
// M + 1 graph slots, N node slots and E edge slots.
struct PaddingBudget {
  std::uint32_t graphs = 0;
  std::uint32_t nodes = 0;
  std::uint32_t edges = 0;

  // Whether a batch of this graph alone is within the budget.
  bool Holds(std::uint32_t n_node, std::uint32_t n_edge) const { return n_node < nodes && n_edge <= edges; }

  // Whether an open batch within the budget has room for one more graph of these sizes.
  bool HasRoom(const wire::Shape& open, std::uint32_t n_node, std::uint32_t n_edge) const {
    return open.graphs < graphs && open.nodes + n_node < nodes && open.edges + n_edge <= edges;
  }

  wire::Shape padded() const { return {graphs + 1, nodes, edges}; }
};

// INVALID_ARGUMENT: --nodes below 2, --edges below 1, either above kMaxSlots, or a --budget-sample that is
// 0 or has nothing left to decide.
absl::Status CheckBudget(const wire::BatchSpec& spec);

// The budget of a spec: as given, else N = max(nextmult64(total_nodes (G+1) div n),
// nextmult64(max_node)) and E likewise, over the first `budget_sample` graphs of the split or all.
// The same for every epoch. FAILED_PRECONDITION: a derived N or E is above kMaxSlots.
absl::StatusOr<PaddingBudget> ResolveBudget(const wire::BatchSpec& spec, const GraphSizes& sizes,
                                            std::span<const std::uint32_t> split);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PADDING_BUDGET_H_
