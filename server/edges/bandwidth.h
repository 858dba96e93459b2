// How far apart the nodes that an edge joins are numbered.
#ifndef PACKTRAIN_SERVER_EDGES_BANDWIDTH_H_
#define PACKTRAIN_SERVER_EDGES_BANDWIDTH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace packtrain::edges {

// The greatest |senders[e] - receivers[e]|; 0 without edges. Both are equally long.
inline std::uint32_t Bandwidth(std::span<const std::uint32_t> senders,
                               std::span<const std::uint32_t> receivers) {
  std::uint32_t bandwidth = 0;
  for (std::size_t e = 0; e < senders.size(); ++e) {
    const auto [low, high] = std::minmax(senders[e], receivers[e]);
    bandwidth = std::max(bandwidth, high - low);
  }
  return bandwidth;
}

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_BANDWIDTH_H_
