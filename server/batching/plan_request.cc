#include "server/batching/plan_request.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"

namespace packtrain::batching {

absl::Status CheckSplit(const PlanRequest& request) {
  const std::span<const std::uint32_t> split = request.split;
  if (split.empty()) return absl::InvalidArgumentError("--split names a split without graphs");
  if (std::adjacent_find(split.begin(), split.end(), std::greater_equal<>()) != split.end()) {
    return absl::InvalidArgumentError("the graph indices of a split must ascend");
  }
  const std::size_t graphs = std::min(request.sizes.n_node.size(), request.sizes.n_edge.size());
  if (split.back() < graphs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the split names graph ", split.back(), "; there are sizes of ", graphs, " graphs"));
}

absl::Status CheckBandwidths(std::string_view option, const PlanRequest& request) {
  if (request.split.back() < request.sizes.bandwidth.size()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      std::string(option),
      " needs graphs whose nodes are renumbered: import or derive the data set with --renumber rcm"));
}

}  // namespace packtrain::batching
