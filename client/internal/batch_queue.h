// Received batches on their way from the thread that reads them to the one that uses them.
#ifndef PACKTRAIN_CLIENT_INTERNAL_BATCH_QUEUE_H_
#define PACKTRAIN_CLIENT_INTERNAL_BATCH_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "proto/base/mutex.h"
#include "proto/wire/batch.h"

namespace packtrain::client {

// Once full it takes no more until a half of it is free: then its reader is woken seldom, and a Take finds
// nobody to wake. Thread-safe; one thread puts and one takes.
class BatchQueue {
 public:
  explicit BatchQueue(const ReadAhead& limit) : limit_(limit) {}

  // Waits until the queue takes more; false when it has been cancelled.
  bool Put(wire::Batch batch);
  // Nothing more is put: what Take returns behind the last batch.
  void End(const absl::Status& outcome);

  // The oldest batch; waits for it. nullopt: the queue has ended, well. CANCELLED: it has been cancelled.
  absl::StatusOr<std::optional<wire::Batch>> Take();
  // Any thread may call it.
  void Cancel();

  // Whether a Put returns at once.
  bool takes_more() const;

 private:
  bool IsFull() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsHalfFree() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  wire::Batch TakeFront() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ReadAhead limit_;

  mutable base::Mutex mutex_;
  base::CondVar put_, freed_;
  std::deque<wire::Batch> batches_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of their bodies
  bool takes_more_ ABSL_GUARDED_BY(mutex_) = true;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> outcome_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_BATCH_QUEUE_H_
