// What the streams of a server stand on.
#ifndef PACKTRAIN_SERVER_BATCHES_STREAM_ENVIRONMENT_H_
#define PACKTRAIN_SERVER_BATCHES_STREAM_ENVIRONMENT_H_

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "server/batches/batch_sequence.h"
#include "server/batches/corrupt_graph_log.h"
#include "server/batches/plan_cache.h"
#include "server/batches/resident_datasets.h"
#include "server/batches/shared_batches.h"
#include "server/batches/stream_request.h"
#include "server/batches/worker_pool.h"
#include "server/limits/memory_budget.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// Enough that threads seldom contend for one.
inline constexpr std::uint64_t kStreamWindowBytes = 2 << 20;

// Everything is borrowed, outlives the streams, and may be used by any number of threads.
struct StreamEnvironment {
  storage::GraphStore& store;
  ResidentDatasets& residents;
  PlanCache& plans;
  SharedBatches& shared;
  WorkerPool& builders;
  // Plans coming epochs, so that no builder stands still for it.
  WorkerPool& planners;
  CorruptGraphLog& corrupt_log;
  BodyMemory memory;
  // What a stream builds ahead where its batches are small.
  std::uint64_t window_bytes = kStreamWindowBytes;
  // How long a batch waits for memory before its stream ends.
  std::chrono::milliseconds memory_wait = limits::kMemoryWait;
  std::uint64_t max_batch_bytes = 0;
  // Upper limit of a message, whatever the client takes.
  std::uint32_t max_part_bytes = 0;
};

// The sequence that a request asks for. May read from disk, and plans the first epoch.
// NOT_FOUND: there is no such data set or split. FAILED_PRECONDITION: the fingerprint is not the expected one.
// Otherwise codes as BatchBuilder::Create and BatchSequence::Open.
absl::StatusOr<std::unique_ptr<BatchSequence>> OpenSequence(const StreamEnvironment& environment,
                                                            const StreamRequest& request);

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_STREAM_ENVIRONMENT_H_
