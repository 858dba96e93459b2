// From a planned batch to the bytes that are sent. Knows nothing of gRPC.
//
// A builder is made once for a data set, and used by every thread that builds its batches:
//
//   ABSL_ASSIGN_OR_RETURN(BatchBuilder builder,
//                         BatchBuilder::Create(dataset, max_batch_bytes, {budget, pool}));
//   ABSL_ASSIGN_OR_RETURN(const batching::PlannedBatch planned, plan->BatchAt(index));
//   ABSL_ASSIGN_OR_RETURN(const BuiltBatch batch, builder.Build(planned, {.epoch = 3, .epoch_steps = 1014}));
//   Send(wire::EncodeHeader(batch.header), batch.body);
#ifndef PACKTRAIN_SERVER_BATCHES_BATCH_BUILDER_H_
#define PACKTRAIN_SERVER_BATCHES_BATCH_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/wire/batch_layout.h"
#include "proto/wire/body_pool.h"
#include "server/batching/plan.h"
#include "server/limits/memory_budget.h"
#include "server/records/graph_record.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// The position of a planned batch: the parts of its header that its plan does not hold.
struct EpochPosition {
  std::uint64_t epoch = 0;
  std::uint64_t epoch_steps = 0;
  std::uint32_t world_size = 1;
  std::string fingerprint;
};

// The pool from which bodies take their memory, and the budget of which they are part.
struct BodyMemory {
  std::shared_ptr<limits::MemoryBudget> budget;
  std::shared_ptr<wire::BodyPool> pool;
};

// A complete batch. The body is aligned to kSectionAlignment and has its part of the budget until its last
// reference is gone.
struct BuiltBatch {
  wire::BatchHeader header;
  std::shared_ptr<const std::byte> body;
};

// Builds batches of one data set. Pure: equal arguments give equal bytes. Immutable; any number of threads
// may use it.
class BatchBuilder {
 public:
  // INVALID_ARGUMENT: the data set's schema is not one that this program can read.
  static absl::StatusOr<BatchBuilder> Create(std::shared_ptr<const storage::Dataset> dataset,
                                             std::uint64_t max_batch_bytes, BodyMemory memory);

  // Never waits for memory: the body takes that of `memory` where it is enough, which ReservedBytes is, else
  // what is free for streams. RESOURCE_EXHAUSTED: the body is above `max_batch_bytes` (nothing was allocated),
  // or, with the reason base::kMemoryLimit, memory is short. DATA_LOSS: a stored record is corrupt, or
  // contradicts the size index.
  absl::StatusOr<BuiltBatch> Build(const batching::PlannedBatch& batch, const EpochPosition& position,
                                   limits::MemoryBudget::Reservation memory = {}) const;
  // The same, but where it fails after it has allocated, `memory` has what was reserved, for another try.
  absl::StatusOr<BuiltBatch> TryBuild(const batching::PlannedBatch& batch, const EpochPosition& position,
                                      limits::MemoryBudget::Reservation& memory) const;
  // What Build needs of the budget, or a little more.
  std::uint64_t ReservedBytes(const batching::PlannedBatch& batch) const;

  // What the body takes, save for the gaps between its sections.
  std::uint64_t BodyBytes(const batching::PlannedBatch& batch) const;

  // Whether the records come from memory and the body takes about as long to build as gRPC to send it: a thread
  // that must not block may build it.
  bool IsQuick(const batching::PlannedBatch& batch) const;

 private:
  BatchBuilder(std::shared_ptr<const storage::Dataset> dataset, records::RecordLayout layout,
               std::uint64_t max_batch_bytes, BodyMemory memory);

  // What a row takes in the body, over all sections.
  struct RowBytes {
    std::uint64_t graph = 0;
    std::uint64_t node = 0;
    std::uint64_t edge = 0;
  };

  RowBytes SumRowBytes() const;
  wire::BatchHeader LayOut(const batching::PlannedBatch& batch, const EpochPosition& position) const;
  absl::Status CheckSize(const wire::BatchHeader& header) const;
  absl::Status Fill(const batching::PlannedBatch& batch, const wire::BatchHeader& header,
                    std::byte* body) const;

  std::shared_ptr<const storage::Dataset> dataset_;
  records::RecordLayout layout_;
  std::uint64_t max_batch_bytes_;
  BodyMemory memory_;
  wire::DType endpoint_type_;
  RowBytes row_bytes_;
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_BATCH_BUILDER_H_
