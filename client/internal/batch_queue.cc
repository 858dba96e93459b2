#include "client/internal/batch_queue.h"

#include <utility>

namespace packtrain::client {

bool BatchQueue::Put(wire::Batch batch) {
  {
    base::MutexLock lock(mutex_);
    while (!cancelled_ && !takes_more_) freed_.Wait(mutex_);
    if (cancelled_) return false;
    bytes_ += batch.body().size();
    batches_.push_back(std::move(batch));
    if (IsFull()) takes_more_ = false;
  }
  put_.NotifyOne();  // without the lock, which whoever wakes up takes
  return true;
}

void BatchQueue::End(const absl::Status& outcome) {
  base::MutexLock lock(mutex_);
  outcome_ = outcome;
  put_.NotifyAll();
}

absl::StatusOr<std::optional<wire::Batch>> BatchQueue::Take() {
  base::MutexLock lock(mutex_);
  while (!cancelled_ && batches_.empty() && !outcome_) put_.Wait(mutex_);
  if (cancelled_) return absl::CancelledError("the stream was cancelled by its reader");
  if (!batches_.empty()) return TakeFront();
  if (!outcome_->ok()) return *outcome_;
  return std::nullopt;
}

void BatchQueue::Cancel() {
  base::MutexLock lock(mutex_);
  cancelled_ = true;
  put_.NotifyAll();
  freed_.NotifyAll();
}

bool BatchQueue::takes_more() const {
  base::MutexLock lock(mutex_);
  return takes_more_;
}

bool BatchQueue::IsFull() const { return batches_.size() >= limit_.batches || bytes_ >= limit_.bytes; }

bool BatchQueue::IsHalfFree() const {
  return batches_.size() <= limit_.batches / 2 && bytes_ <= limit_.bytes / 2;
}

wire::Batch BatchQueue::TakeFront() {
  wire::Batch batch = std::move(batches_.front());
  batches_.pop_front();
  bytes_ -= batch.body().size();
  if (!takes_more_ && IsHalfFree()) {
    takes_more_ = true;
    freed_.NotifyAll();
  }
  return batch;
}

}  // namespace packtrain::client
