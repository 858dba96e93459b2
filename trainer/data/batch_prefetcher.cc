#include "trainer/data/batch_prefetcher.h"

#include <algorithm>
#include <utility>

namespace packtrain::trainer {
namespace {

bool IsLast(const absl::StatusOr<std::optional<wire::Batch>>& item) { return !item.ok() || !item->has_value(); }

}  // namespace

BatchPrefetcher::BatchPrefetcher(std::unique_ptr<client::BatchReader> reader, std::size_t depth,
                                 const std::stop_token& stop)
    : reader_(std::move(reader)),
      depth_(std::max<std::size_t>(depth, 1)),
      on_stop_(stop, [this] { reader_->Cancel(); }),
      thread_([this] { ReadAll(); }) {}

BatchPrefetcher::~BatchPrefetcher() {
  {
    wire::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  reader_->Cancel();
  thread_.join();
}

absl::StatusOr<std::optional<wire::Batch>> BatchPrefetcher::Next() {
  wire::MutexLock lock(mutex_);
  while (items_.empty()) changed_.Wait(mutex_);
  if (!items_.front().ok()) return items_.front().status();
  if (!items_.front()->has_value()) return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  changed_.NotifyAll();
  return item;
}

void BatchPrefetcher::ReadAll() {
  for (bool going = true; going;) {
    Item item = reader_->Next();
    going = !IsLast(item);
    if (!Put(std::move(item))) return;
  }
}

bool BatchPrefetcher::Put(Item item) {
  wire::MutexLock lock(mutex_);
  while (items_.size() >= depth_ && !stopping_) changed_.Wait(mutex_);
  if (stopping_) return false;
  items_.push_back(std::move(item));
  changed_.NotifyAll();
  return true;
}

}  // namespace packtrain::trainer
