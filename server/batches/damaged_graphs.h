// Batches that go without graphs whose records are damaged.
#ifndef PACKTRAIN_SERVER_BATCHES_DAMAGED_GRAPHS_H_
#define PACKTRAIN_SERVER_BATCHES_DAMAGED_GRAPHS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/batches/batch_builder.h"
#include "server/batching/plan.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// Those of `graphs` whose records are damaged, ascending. Reads each by itself, so that of graphs that lie
// together those that can be read are. Codes as Dataset::ReadRecords, but for DATA_LOSS.
absl::StatusOr<std::vector<std::uint32_t>> FindDamaged(const storage::Dataset& dataset,
                                                       std::span<const std::uint32_t> graphs);

// The batch without its damaged graphs, which its header lists; empty where none is left. Else as `builder`
// builds it, which is of the data set. Codes as Build; DATA_LOSS only where a record is damaged now that was
// not before.
absl::StatusOr<BuiltBatch> BuildWithoutDamaged(const BatchBuilder& builder, const storage::Dataset& dataset,
                                               const batching::PlannedBatch& batch,
                                               const EpochPosition& position);

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_DAMAGED_GRAPHS_H_
