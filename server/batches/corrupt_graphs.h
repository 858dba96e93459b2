// Batches without the graphs whose records are corrupt.
#ifndef PACKTRAIN_SERVER_BATCHES_CORRUPT_GRAPHS_H_
#define PACKTRAIN_SERVER_BATCHES_CORRUPT_GRAPHS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/batches/batch_builder.h"
#include "server/batching/plan.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// Those of `graphs` whose records are corrupt, ascending. Reads each graph by itself, so that a corrupt one
// does not hide others that lie beside it and can be read. Codes as Dataset::ReadRecords, but for DATA_LOSS.
absl::StatusOr<std::vector<std::uint32_t>> FindCorrupt(const storage::Dataset& dataset,
                                                       std::span<const std::uint32_t> graphs);

// The batch without its corrupt graphs, which its header lists; empty if no graph is left. Otherwise as
// `builder`, which is of the data set, builds it. Codes, and `memory`, as BatchBuilder::Build; memory for the
// whole batch is enough. DATA_LOSS only where a record has become corrupt since it was looked at.
absl::StatusOr<BuiltBatch> BuildWithoutCorrupt(const BatchBuilder& builder, const storage::Dataset& dataset,
                                               const batching::PlannedBatch& batch,
                                               const EpochPosition& position,
                                               limits::MemoryBudget::Reservation memory = {});

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_CORRUPT_GRAPHS_H_
