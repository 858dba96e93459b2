// Fully connected graphs: all ordered pairs of distinct nodes. Such edges depend on the node count only, so
// they are neither stored nor sent.
#ifndef PACKTRAIN_SERVER_EDGES_FULL_H_
#define PACKTRAIN_SERVER_EDGES_FULL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace packtrain::edges {

// The largest n whose n(n-1) edges can be counted in 32 bits.
inline constexpr std::uint32_t kMaxFullNodes = 65536;

// n(n-1). INVALID_ARGUMENT: more than kMaxFullNodes nodes.
absl::StatusOr<std::uint32_t> FullEdgeCount(std::uint32_t n_node);

struct EdgeList {
  std::vector<std::uint32_t> senders;
  std::vector<std::uint32_t> receivers;
};

// The edges in the order in which they count as stored: by receiver, then sender.
// INVALID_ARGUMENT: more than kMaxFullNodes nodes.
absl::StatusOr<EdgeList> FullEdges(std::uint32_t n_node);

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_FULL_H_
