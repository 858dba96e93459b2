#include "server/batching/chunked_cut.h"

#include <algorithm>
#include <span>
#include <utility>

#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

// The batches of a chunk, whose graphs are put back where the chunk's part of the order stood.
std::vector<wire::Shape> CutInPlace(const BatchPolicy& policy, std::span<std::uint32_t> order,
                                    const GraphSizes& sizes) {
  const BatchList cut = policy.Cut(order, sizes);
  std::ranges::copy(cut.graphs(), order.begin());
  std::vector<wire::Shape> batches(cut.size());
  for (std::size_t batch = 0; batch < batches.size(); ++batch) batches[batch] = cut.Real(batch);
  return batches;
}

std::size_t CountGraphs(const std::vector<wire::Shape>& batches) {
  std::size_t graphs = 0;
  for (const wire::Shape& batch : batches) graphs += batch.graphs;
  return graphs;
}

// Closes the gaps that chunks with fewer graphs than places leave.
void CloseGaps(std::vector<std::uint32_t>& graphs, std::size_t chunk_graphs,
               const std::vector<std::vector<wire::Shape>>& chunks) {
  auto end = graphs.begin();
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const auto begin = graphs.begin() + static_cast<std::ptrdiff_t>(chunk * chunk_graphs);
    const auto count = static_cast<std::ptrdiff_t>(CountGraphs(chunks[chunk]));
    end = begin == end ? begin + count : std::copy_n(begin, count, end);
  }
  graphs.erase(end, graphs.end());
}

}  // namespace

BatchList CutInChunks(const BatchPolicy& policy, std::vector<std::uint32_t> order, const GraphSizes& sizes,
                      std::size_t chunk_graphs, const ParallelFor& parallel_for) {
  if (order.size() <= chunk_graphs) return policy.Cut(order, sizes);
  std::vector<std::vector<wire::Shape>> chunks(DivideUp(order.size(), chunk_graphs));
  parallel_for(chunks.size(), [&](std::size_t chunk) {
    const std::size_t begin = chunk * chunk_graphs;
    const std::size_t count = std::min(chunk_graphs, order.size() - begin);
    chunks[chunk] = CutInPlace(policy, std::span(order).subspan(begin, count), sizes);
  });
  CloseGaps(order, chunk_graphs, chunks);
  return BatchList(std::move(order), chunks);
}

}  // namespace packtrain::batching
