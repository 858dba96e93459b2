// A sealed data set in RocksDB, held open: sizes and splits are in memory, records are read when asked for.
#ifndef PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_H_
#define PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/limits/memory_budget.h"
#include "server/records/graph_record.h"
#include "server/storage/graph_database.h"
#include "server/storage/graph_store.h"
#include "server/storage/seal.h"
#include "server/storage/stored_dataset.h"

namespace packtrain::storage {

// Immutable; any number of threads may use it. Keeps the database open.
class RocksDataset : public Dataset {
 public:
  // DATA_LOSS: what `meta` or `sizes` say of it is corrupt.
  // `memory` is that of its sizes and splits, SizeBytes, and is kept for as long as the data set is open.
  static absl::StatusOr<std::shared_ptr<const RocksDataset>> Load(
      std::shared_ptr<const rocks::Database> database, StoredDataset stored,
      limits::MemoryBudget::Reservation memory = {});

  // What the sizes and splits of a data set take.
  static std::uint64_t SizeBytes(const v1::Dataset& description);

  const v1::Dataset& description() const override { return description_; }
  std::span<const std::uint32_t> n_node() const override { return n_node_; }
  std::span<const std::uint32_t> n_edge() const override { return n_edge_; }
  std::span<const std::uint32_t> bandwidth() const override { return bandwidth_; }
  absl::StatusOr<std::vector<std::uint32_t>> ReadBandwidthsAsRead(
      std::span<const std::uint32_t> graphs) const override;
  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override;
  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override;
  absl::Status ScanRecords(RecordSink sink) const override;

  // Of sizes, splits and description.
  std::uint64_t memory_bytes() const;

 private:
  RocksDataset(std::shared_ptr<const rocks::Database> database, StoredDataset stored,
               records::RecordLayout layout, limits::MemoryBudget::Reservation memory);

  // The arrays of a chunk of `sizes`, end to end. DATA_LOSS: it is missing, or has another length.
  absl::StatusOr<std::string> ReadSizes(std::uint64_t chunk) const;
  absl::Status LoadSizes();
  absl::Status LoadSplits();
  bool IsSound(const IndexSplit& split, std::uint64_t graphs) const;

  absl::Status CheckIndices(std::span<const std::uint32_t> graphs) const;
  absl::Status Deliver(std::uint32_t k, std::uint32_t graph, std::string_view value, RecordSink sink) const;

  absl::Status Corrupt(std::string_view what) const;
  absl::Status Missing(std::uint32_t graph) const;
  absl::Status Unreadable(std::uint32_t graph, const absl::Status& status) const;

  const std::shared_ptr<const rocks::Database> database_;
  const std::uint64_t storage_id_;
  const v1::Dataset description_;
  const records::RecordLayout layout_;
  const limits::MemoryBudget::Reservation memory_;
  std::vector<std::uint32_t> n_node_;  // these four are loaded once, before anybody else sees the object
  std::vector<std::uint32_t> n_edge_;
  std::vector<std::uint32_t> bandwidth_;  // empty unless renumbered
  std::vector<IndexSplit> splits_;        // as described
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_ROCKS_DATASET_H_
