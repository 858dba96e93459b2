// All records of one data set in memory.
#ifndef PACKTRAIN_SERVER_STORAGE_RECORD_ARENA_H_
#define PACKTRAIN_SERVER_STORAGE_RECORD_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/records/graph_record.h"
#include "server/storage/graph_store.h"

namespace packtrain::storage {

// The records lie end to end and were checked when they were read. Immutable once loaded; any number of
// threads may use it then.
class RecordArena {
 public:
  // Bytes of memory that the arena of a data set takes.
  static std::uint64_t BytesFor(const v1::Dataset& description);

  // Reads the whole data set. Codes as Dataset::ScanRecords; DATA_LOSS also where the records are larger than
  // the data set's description says; RESOURCE_EXHAUSTED: no memory; CANCELLED: `stop` was requested.
  static absl::StatusOr<std::unique_ptr<const RecordArena>> Load(const Dataset& dataset, std::stop_token stop);

  std::uint32_t graphs() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }

  // As Dataset::ReadRecords, in the order of `graphs`, each of which is below graphs(). Views borrow the arena.
  absl::Status Read(std::span<const std::uint32_t> graphs, Dataset::RecordSink sink) const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  RecordArena(records::RecordLayout layout, Memory bytes, std::uint64_t capacity);

  static Memory Allocate(std::uint64_t size);
  absl::Status Append(const records::RecordView& record);

  const records::RecordLayout layout_;
  const Memory bytes_;
  const std::uint64_t capacity_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::vector<std::uint64_t> offsets_;  // of each record, and of the end
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_RECORD_ARENA_H_
