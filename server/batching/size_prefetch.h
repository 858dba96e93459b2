// Hides that a shuffled order reads sizes all over memory.
#ifndef PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_
#define PACKTRAIN_SERVER_BATCHING_SIZE_PREFETCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/batching/plan_request.h"

namespace packtrain::batching {

// What GraphSizes::words is to be for walks over `graphs` graphs in all: a word for each graph there are sizes
// of, or nothing where words would not pay, or one of the sizes is above 65,535.
std::vector<std::uint32_t> MakeSizeWords(const GraphSizes& sizes, std::size_t graphs);

struct GraphSize {
  std::uint32_t n_node = 0;
  std::uint32_t n_edge = 0;
};

// One cache miss where there are words, two where there are not.
inline GraphSize SizeOf(std::uint32_t graph, const GraphSizes& sizes) {
  if (sizes.words.empty()) return {sizes.n_node[graph], sizes.n_edge[graph]};
  const std::uint32_t word = sizes.words[graph];
  return {word & 0xffff, word >> 16};
}

// About the time of one cache miss in graphs.
inline constexpr std::size_t kSizesAhead = 24;

// Brings the size of the graph kSizesAhead behind `position` on its way into the cache. For a walk over `order`
// that calls it at each position; decides nothing. Inlined by force: GCC drops calls of a function that does no
// more than prefetch.
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
