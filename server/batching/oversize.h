// Graphs that are larger than a budget: known before the first batch, because sizes are in memory.
#ifndef PACKTRAIN_SERVER_BATCHING_OVERSIZE_H_
#define PACKTRAIN_SERVER_BATCHING_OVERSIZE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

inline constexpr std::size_t kListedOversizeGraphs = 1000;

struct OversizeGraphs {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> listed;  // the first kListedOversizeGraphs, ascending
  std::uint32_t largest = 0;          // by nodes + edges; ties: the lowest index
};

// What a budget says of the graphs of a split, one by one, and how messages speak of it.
class GraphLimits {
 public:
  virtual ~GraphLimits() = default;

  // Whether a batch of this graph alone is within the budget.
  virtual bool Holds(std::uint32_t graph) const = 0;
  // At least the node or edge slots of each shape that Oversize::kAlone gives.
  virtual std::uint64_t AloneSlots() const = 0;

  // "the budget of --nodes 64 (one of them padding) and --edges 300".
  virtual std::string Text() const = 0;
  // "80 nodes and 12 edges".
  virtual std::string SizeText(std::uint32_t graph) const = 0;
  // What would hold every graph: "a budget of at least --nodes 81 --edges 12".
  virtual std::string Enough() const = 0;
};

// The graphs of the request's split that `limits` do not hold; request.on_oversize is told their number.
// FAILED_PRECONDITION: there are some under kError, all graphs are oversize under kSkip, or one of them would
// need more than kMaxSlots under kAlone.
absl::StatusOr<OversizeGraphs> SettleOversize(const GraphLimits& limits, const PlanRequest& request);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_OVERSIZE_H_
