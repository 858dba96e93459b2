#include "server/batching/batch_sample.h"

#include <algorithm>
#include <cstddef>

#include "server/batching/split_order.h"

namespace packtrain::batching {
namespace {

constexpr std::uint64_t kFirstSampledEpoch = std::uint64_t{1} << 63;

wire::Shape Sum(std::span<const std::uint32_t> graphs, const GraphSizes& sizes) {
  wire::Shape sum;
  for (const std::uint32_t graph : graphs) {
    ++sum.graphs;
    sum.nodes += sizes.n_node[graph];
    sum.edges += sizes.n_edge[graph];
  }
  return sum;
}

// The batches of one order, up to `most` of them.
void AppendBatches(std::span<const std::uint32_t> order, const PlanRequest& request, std::size_t most,
                   std::vector<wire::Shape>& sums) {
  const std::size_t graphs = request.spec.graphs;
  for (std::size_t begin = 0; begin < order.size() && sums.size() < most; begin += graphs) {
    sums.push_back(Sum(order.subspan(begin, std::min(graphs, order.size() - begin)), request.sizes));
  }
}

}  // namespace

std::vector<wire::Shape> SampleBatches(const PlanRequest& request) {
  std::vector<wire::Shape> sums;
  if (request.spec.order == wire::Order::kNone) {
    AppendBatches(request.split, request, request.split.size(), sums);
    return sums;
  }
  wire::BatchSpec spec = request.spec;
  spec.seed = 0;
  const std::size_t most = std::min(kSampledBatches, std::max(1u, kSampledGraphs / spec.graphs));
  for (std::uint64_t epoch = kFirstSampledEpoch; sums.size() < most; ++epoch) {
    AppendBatches(OrderSplit(spec, epoch, request.split), request, most, sums);
  }
  return sums;
}

}  // namespace packtrain::batching
