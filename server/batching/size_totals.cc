#include "server/batching/size_totals.h"

#include <algorithm>

namespace packtrain::batching {

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
