#include "proto/wire/body_pool.h"

#include <algorithm>
#include <bit>

namespace packtrain::wire {
namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

std::shared_ptr<BodyPool> BodyPool::Create(std::uint64_t max_kept_bytes) {
  return std::shared_ptr<BodyPool>(new BodyPool(max_kept_bytes));
}

BodyPool::~BodyPool() {
  base::MutexLock lock(mutex_);
  for (const auto& [capacity, kept] : kept_) {
    for (std::byte* memory : kept.memory) FreeAligned(memory);
  }
}

AlignedBytes BodyPool::Take(std::size_t size) {
  const std::size_t capacity = CapacityOf(size);
  {
    base::MutexLock lock(mutex_);
    Kept& kept = kept_[capacity];
    kept.taken = ++takes_;
    if (!kept.memory.empty()) {
      std::byte* memory = kept.memory.back();
      kept.memory.pop_back();
      kept_bytes_ -= capacity;
      return AlignedBytes(memory, AlignedFree{shared_from_this(), capacity});
    }
  }
  AlignedBytes fresh = AllocateAligned(capacity);
  return AlignedBytes(fresh.release(), AlignedFree{shared_from_this(), capacity});
}

std::size_t BodyPool::CapacityOf(std::size_t size) {
  const std::size_t step = std::max(kPage, std::bit_floor(size) / 8);
  const std::size_t steps = std::max<std::size_t>((size + step - 1) / step, 1);
  return steps * step;
}

std::uint64_t BodyPool::kept_bytes() const {
  base::MutexLock lock(mutex_);
  return kept_bytes_;
}

void BodyPool::Return(std::byte* memory, std::size_t capacity) {
  if (capacity > max_kept_bytes_) return FreeAligned(memory);
  base::MutexLock lock(mutex_);
  MakeRoom(capacity);
  kept_[capacity].memory.push_back(memory);
  kept_bytes_ += capacity;
}

void BodyPool::MakeRoom(std::uint64_t bytes) {
  const auto stalest = [](const auto& a, const auto& b) {
    if (a.second.memory.empty() != b.second.memory.empty()) return b.second.memory.empty();
    return a.second.taken < b.second.taken;
  };
  while (kept_bytes_ > max_kept_bytes_ - bytes) {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(), stalest);
    FreeAligned(oldest->second.memory.back());
    oldest->second.memory.pop_back();
    kept_bytes_ -= oldest->first;
    if (oldest->second.memory.empty()) kept_.erase(oldest);
  }
}

}  // namespace packtrain::wire
