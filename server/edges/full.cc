#include "server/edges/full.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::edges {

absl::StatusOr<std::uint32_t> FullEdgeCount(std::uint32_t n_node) {
  if (n_node > kMaxFullNodes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a graph of ", n_node, " nodes is too large for edges 'full'; the limit is ", kMaxFullNodes, " nodes"));
  }
  return n_node == 0 ? 0 : n_node * (n_node - 1);
}

absl::StatusOr<EdgeList> FullEdges(std::uint32_t n_node) {
  ABSL_ASSIGN_OR_RETURN(const std::uint32_t count, FullEdgeCount(n_node));
  EdgeList edges;
  edges.senders.reserve(count);
  edges.receivers.reserve(count);
  for (std::uint32_t receiver = 0; receiver < n_node; ++receiver) {
    for (std::uint32_t sender = 0; sender < n_node; ++sender) {
      if (sender == receiver) continue;
      edges.senders.push_back(sender);
      edges.receivers.push_back(receiver);
    }
  }
  return edges;
}

}  // namespace packtrain::edges
