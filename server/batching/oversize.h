// Graphs that are larger than a budget: known before the first batch, because sizes are in memory.
#ifndef PACKTRAIN_SERVER_BATCHING_OVERSIZE_H_
#define PACKTRAIN_SERVER_BATCHING_OVERSIZE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/wire/shape.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

struct PaddingBudget;

inline constexpr std::size_t kListedOversizeGraphs = 1000;

struct OversizeGraphs {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> listed;  // the first kListedOversizeGraphs, ascending
  std::uint32_t largest = 0;          // by nodes + edges; ties: the lowest index
};

// The graphs of a split that a batch within the budget cannot hold.
OversizeGraphs FindOversize(const PaddingBudget& budget, const GraphSizes& sizes,
                            std::span<const std::uint32_t> split);

// FAILED_PRECONDITION: there are oversize graphs under kError, all graphs are oversize under kSkip, or one of
// them would need more than kMaxSlots under kAlone.
absl::Status CheckOversize(const OversizeGraphs& oversize, const PaddingBudget& budget,
                           const PlanRequest& request);

// The padded shape of a batch of one oversize graph: (2, up64(nodes + 1), up64(edges)).
wire::Shape OversizeShape(const wire::Shape& real);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_OVERSIZE_H_
