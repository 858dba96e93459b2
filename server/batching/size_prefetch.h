// Hides the cache misses of reading sizes in a shuffled order.
#ifndef PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_
#define PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/batching/plan_request.h"

namespace packtrain::batching {

// The value of GraphSizes::words for walks over `graphs` graphs in total: a word for each graph of the data
// set, or empty if words would not pay off or if a size is above 65,535.
std::vector<std::uint32_t> MakeSizeWords(const GraphSizes& sizes, std::size_t graphs);

struct GraphSize {
  std::uint32_t n_node = 0;
  std::uint32_t n_edge = 0;
};

// Costs one cache miss with words and two without.
inline GraphSize SizeOf(std::uint32_t graph, const GraphSizes& sizes) {
  if (sizes.words.empty()) return {sizes.n_node[graph], sizes.n_edge[graph]};
  const std::uint32_t word = sizes.words[graph];
  return {word & 0xffff, word >> 16};
}

// Number of graphs that a walk handles in about the time of one cache miss.
inline constexpr std::size_t kSizesAhead = 24;

// Prefetches the size of the graph that comes kSizesAhead after `position`. A walk over `order` calls it at
// each position. Always inlined, because GCC drops calls of a function that does nothing but prefetch.
[[gnu::always_inline]] inline void PrefetchSizes(std::span<const std::uint32_t> order, std::size_t position,
                                                 const GraphSizes& sizes) {
  if (order.size() - position <= kSizesAhead) return;
  const std::uint32_t graph = order[position + kSizesAhead];
  if (sizes.words.empty()) {
    __builtin_prefetch(&sizes.n_node[graph]);
    __builtin_prefetch(&sizes.n_edge[graph]);
  } else {
    __builtin_prefetch(&sizes.words[graph]);
  }
}

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_
