// Counts the bytes that the server holds for its clients.
//
//   const auto meter = std::make_shared<MemoryMeter>();
//   const MemoryMeter::Charge charge = meter->Add(bytes);  // counted until the charge is destroyed
//   Report(meter->used_bytes());
#ifndef PACKTRAIN_SERVER_LIMITS_MEMORY_METER_H_
#define PACKTRAIN_SERVER_LIMITS_MEMORY_METER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace packtrain::limits {

// Any number of threads may use it. It is shared with what it counts, which may outlive the server by a moment,
// because gRPC frees sent bytes when it likes.
class MemoryMeter : public std::enable_shared_from_this<MemoryMeter> {
 public:
  // Bytes that are counted for as long as the charge lives. Movable; an empty charge counts nothing.
  class Charge {
   public:
    Charge() = default;
    Charge(std::shared_ptr<MemoryMeter> meter, std::uint64_t bytes) : meter_(std::move(meter)), bytes_(bytes) {
      meter_->used_.fetch_add(bytes_, std::memory_order_relaxed);
    }
    Charge(Charge&& other) noexcept : meter_(std::move(other.meter_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Charge& operator=(Charge&& other) noexcept {
      std::swap(meter_, other.meter_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Charge() {
      if (meter_ != nullptr) meter_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
    }

    std::uint64_t bytes() const { return bytes_; }

   private:
    std::shared_ptr<MemoryMeter> meter_;
    std::uint64_t bytes_ = 0;
  };

  Charge Add(std::uint64_t bytes) { return Charge(shared_from_this(), bytes); }
  std::uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace packtrain::limits

#endif  // PACKTRAIN_SERVER_LIMITS_MEMORY_METER_H_
