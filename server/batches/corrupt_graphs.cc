#include "server/batches/corrupt_graphs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"

namespace packtrain::batches {
namespace {

// Of the sizes that the plan counted.
wire::Shape SumOf(const storage::Dataset& dataset, std::span<const std::uint32_t> graphs) {
  wire::Shape sum;
  for (const std::uint32_t graph : graphs) {
    ++sum.graphs;
    sum.nodes += dataset.n_node()[graph];
    sum.edges += dataset.n_edge()[graph];
  }
  return sum;
}

std::vector<std::uint32_t> Without(std::span<const std::uint32_t> graphs,
                                   const std::vector<std::uint32_t>& corrupt) {
  std::vector<std::uint32_t> left(graphs.begin(), graphs.end());
  std::erase_if(left,
                [&](std::uint32_t graph) { return std::binary_search(corrupt.begin(), corrupt.end(), graph); });
  return left;
}

}  // namespace

absl::StatusOr<std::vector<std::uint32_t>> FindCorrupt(const storage::Dataset& dataset,
                                                       std::span<const std::uint32_t> graphs) {
  const auto ignore = [](std::size_t, const records::RecordView&) { return absl::OkStatus(); };
  std::vector<std::uint32_t> corrupt;
  for (const std::uint32_t graph : graphs) {
    const absl::Status read = dataset.ReadRecords({&graph, 1}, ignore);
    if (absl::IsDataLoss(read)) {
      corrupt.push_back(graph);
    } else if (!read.ok()) {
      return read;
    }
  }
  std::sort(corrupt.begin(), corrupt.end());
  return corrupt;
}

absl::StatusOr<BuiltBatch> BuildWithoutCorrupt(const BatchBuilder& builder, const storage::Dataset& dataset,
                                               const batching::PlannedBatch& batch,
                                               const EpochPosition& position,
                                               limits::MemoryBudget::Reservation memory) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> corrupt, FindCorrupt(dataset, batch.graphs));
  const std::vector<std::uint32_t> left = Without(batch.graphs, corrupt);
  batching::PlannedBatch rest = batch;
  rest.graphs = left;
  rest.real = SumOf(dataset, left);
  rest.empty = left.empty();
  absl::StatusOr<BuiltBatch> built = builder.Build(rest, position, std::move(memory));
  if (built.ok()) built->header.corrupt_graphs.assign(corrupt.begin(), corrupt.end());
  return built;
}

}  // namespace packtrain::batches
