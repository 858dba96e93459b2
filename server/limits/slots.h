// A bound on how many calls of a kind there are at one time.
//
//   Slots exports(32);
//   const std::optional<Slots::Slot> slot = exports.Take();
//   if (!slot.has_value()) return absl::ResourceExhaustedError("32 exports are under way");
#ifndef PACKTRAIN_SERVER_LIMITS_SLOTS_H_
#define PACKTRAIN_SERVER_LIMITS_SLOTS_H_

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace packtrain::limits {

// Any number of threads may use it.
class Slots {
 public:
  explicit Slots(std::size_t count) : free_(count) {}

  // One of the slots, which is taken for as long as this lives. It must not outlive the slots. Movable.
  class Slot {
   public:
    Slot(Slot&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(owner_, other.owner_);
      return *this;
    }
    ~Slot() {
      if (owner_ != nullptr) ++owner_->free_;
    }

   private:
    friend class Slots;
    explicit Slot(Slots* owner) : owner_(owner) {}
    Slots* owner_;
  };

  // Nothing if all are taken.
  std::optional<Slot> Take() {
    std::size_t free = free_;
    while (free > 0) {
      if (free_.compare_exchange_weak(free, free - 1)) return Slot(this);
    }
    return std::nullopt;
  }

 private:
  std::atomic<std::size_t> free_;
};

}  // namespace packtrain::limits

#endif  // PACKTRAIN_SERVER_LIMITS_SLOTS_H_
