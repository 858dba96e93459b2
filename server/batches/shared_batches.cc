#include "server/batches/shared_batches.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace packtrain::batches {
namespace {

// Of some hundred bytes each.
constexpr std::size_t kMaxSlots = 4096;

}  // namespace

SharedBatches::SharedBatches(std::uint64_t max_kept_bytes, limits::MemoryBudget& memory)
    : max_kept_bytes_(max_kept_bytes),
      cache_(memory, limits::MemoryPart::kStreams, [this](std::uint64_t bytes) { GiveWay(bytes); }) {}

SharedBatches::Reader::Reader(SharedBatches& batches, std::string plan)
    : batches_(batches), plan_(std::move(plan)) {
  batches_.Enter(plan_);
}

SharedBatches::Reader::~Reader() { batches_.Leave(plan_); }

absl::StatusOr<BuiltBatch> SharedBatches::Reader::Get(std::uint64_t epoch, std::uint64_t index, bool quick,
                                                      Build build) const {
  const Key key(plan_, epoch, index);
  std::shared_ptr<Slot> mine;
  {
    base::MutexLock lock(batches_.mutex_);
    const auto found = batches_.slots_.find(key);
    if (found != batches_.slots_.end()) {
      const std::shared_ptr<Slot> slot = found->second;
      while (!slot->built && (slot->quick || !quick)) batches_.built_.Wait(batches_.mutex_);
      if (absl::StatusOr<BuiltBatch> batch = BatchOf(*slot); batch.ok()) return batch;
    }
    mine = batches_.Claim(key, quick);
  }
  absl::StatusOr<BuiltBatch> batch = build();
  if (mine != nullptr) batches_.Publish(key, *mine, batch);
  return batch;
}

absl::StatusOr<BuiltBatch> SharedBatches::BatchOf(const Slot& slot) {
  std::shared_ptr<const std::byte> body = slot.body.lock();
  if (body == nullptr) return absl::NotFoundError("the batch is not there any more");
  return BuiltBatch{slot.header, std::move(body)};
}

std::shared_ptr<SharedBatches::Slot> SharedBatches::Claim(const Key& key, bool quick) {
  if (readers_[std::get<0>(key)] < 2) return nullptr;
  std::shared_ptr<Slot>& slot = slots_[key];
  if (slot != nullptr && !slot->built) return nullptr;
  slot = std::make_shared<Slot>(quick);
  order_.push_back({key, slot});
  return slot;
}

void SharedBatches::Publish(const Key& key, Slot& slot, const absl::StatusOr<BuiltBatch>& batch) {
  {
    base::MutexLock lock(mutex_);
    slot.built = true;
    if (batch.ok()) {
      slot.header = batch->header;
      slot.body = batch->body;
      Keep(key, *batch);
    }
    Sweep();
  }
  built_.NotifyAll();
}

void SharedBatches::Keep(const Key& key, const BuiltBatch& batch) {
  const std::uint64_t bytes = wire::BodyPool::CapacityOf(batch.header.body_bytes);
  if (bytes > max_kept_bytes_ || !readers_.contains(std::get<0>(key))) return;
  kept_.push_back({std::get<0>(key), bytes, batch.body});
  kept_bytes_ += bytes;
  for (; kept_bytes_ > max_kept_bytes_; kept_.pop_front()) kept_bytes_ -= kept_.front().bytes;
}

void SharedBatches::GiveWay(std::uint64_t bytes) {
  std::vector<std::shared_ptr<const std::byte>> dropped;  // freed after the lock is
  base::MutexLock lock(mutex_);
  std::uint64_t freed = 0;
  std::erase_if(kept_, [&](Kept& kept) {
    if (freed >= bytes || kept.body.use_count() > 1) return false;
    freed += kept.bytes;
    dropped.push_back(std::move(kept.body));
    return true;
  });
  kept_bytes_ -= freed;
}

void SharedBatches::Sweep() {
  const auto is_gone = [](const Slot& slot) { return slot.built && slot.body.expired(); };
  while (!order_.empty() && (order_.size() > kMaxSlots || is_gone(*order_.front().slot))) {
    const auto found = slots_.find(order_.front().key);
    if (found != slots_.end() && found->second == order_.front().slot) slots_.erase(found);
    order_.pop_front();
  }
}

std::uint64_t SharedBatches::kept_bytes() const {
  base::MutexLock lock(mutex_);
  return kept_bytes_;
}

void SharedBatches::Enter(const std::string& plan) {
  base::MutexLock lock(mutex_);
  ++readers_[plan];
}

void SharedBatches::Leave(const std::string& plan) {
  base::MutexLock lock(mutex_);
  const auto readers = readers_.find(plan);
  if (--readers->second == 0)
    readers_.erase(readers);
  else if (readers->second > 1)
    return;
  const auto is_of_plan = [&](const Kept& kept) { return kept.plan == plan; };
  for (const Kept& kept : kept_) kept_bytes_ -= is_of_plan(kept) ? kept.bytes : 0;
  std::erase_if(kept_, is_of_plan);
  Sweep();
}

}  // namespace packtrain::batches
