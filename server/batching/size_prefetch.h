// Hides that a shuffled order reads sizes all over memory.
#ifndef PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_
#define PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/batching/plan.h"

namespace packtrain::batching {

// About the time of one cache miss in graphs.
inline constexpr std::size_t kSizesAhead = 24;

// Brings the sizes of the graph kSizesAhead behind `position` on their way into the cache. For a walk over
// `order` that calls it at each position; decides nothing.
inline void PrefetchSizes(std::span<const std::uint32_t> order, std::size_t position, const GraphSizes& sizes) {
  if (order.size() - position <= kSizesAhead) return;
  const std::uint32_t graph = order[position + kSizesAhead];
  __builtin_prefetch(&sizes.n_node[graph]);
  __builtin_prefetch(&sizes.n_edge[graph]);
}

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_
