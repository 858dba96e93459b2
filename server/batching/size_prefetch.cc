#include "server/batching/size_prefetch.h"

#include <algorithm>

namespace packtrain::batching {
namespace {

// Sizes of fewer graphs stay in the cache.
constexpr std::size_t kFewGraphs = std::size_t{1} << 18;

bool FitHalfWords(std::span<const std::uint32_t> values) {
  std::uint32_t bits = 0;
  for (const std::uint32_t value : values) bits |= value;
  return bits >> 16 == 0;
}

}  // namespace

std::vector<std::uint32_t> MakeSizeWords(const GraphSizes& sizes, std::size_t graphs) {
  const std::size_t count = std::min(sizes.n_node.size(), sizes.n_edge.size());
  if (graphs < kFewGraphs || graphs < count / 2) return {};
  if (!FitHalfWords(sizes.n_node) || !FitHalfWords(sizes.n_edge)) return {};
  std::vector<std::uint32_t> words(count);
  for (std::size_t graph = 0; graph < count; ++graph) {
    words[graph] = sizes.n_node[graph] | sizes.n_edge[graph] << 16;
  }
  return words;
}

}  // namespace packtrain::batching
