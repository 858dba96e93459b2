#include "server/batching/size_totals.h"

#include <algorithm>

#include "absl/numeric/int128.h"

namespace packtrain::batching {

std::uint64_t MulDiv(std::uint64_t total, std::uint64_t factor, std::uint64_t by) {
  return absl::Uint128Low64(absl::uint128(total) * factor / by);
}

SizeTotals MeasureSizes(const GraphSizes& sizes, std::span<const std::uint32_t> graphs) {
  SizeTotals totals;
  totals.graphs = graphs.size();
  for (const std::uint32_t graph : graphs) {
    totals.nodes += sizes.n_node[graph];
    totals.edges += sizes.n_edge[graph];
    totals.max_node = std::max(totals.max_node, sizes.n_node[graph]);
    totals.max_edge = std::max(totals.max_edge, sizes.n_edge[graph]);
  }
  return totals;
}

}  // namespace packtrain::batching
