// Sums and maxima of the sizes of a set of graphs.
#ifndef PACKTRAIN_SERVER_BATCHING_SIZE_TOTALS_H_
#define PACKTRAIN_SERVER_BATCHING_SIZE_TOTALS_H_

#include <cstdint>
#include <span>

#include "server/batching/plan_request.h"

namespace packtrain::batching {

struct SizeTotals {
  std::uint64_t graphs = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint32_t max_node = 0;  // of one graph
  std::uint32_t max_edge = 0;
};

// floor(total * factor / by), whose product may take 128 bits; below 2^64. by >= 1.
std::uint64_t MulDiv(std::uint64_t total, std::uint64_t factor, std::uint64_t by);

// Totals of the graphs with these indices.
SizeTotals MeasureSizes(const GraphSizes& sizes, std::span<const std::uint32_t> graphs);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SIZE_TOTALS_H_
