// Records on their way to a server: added, sent in blocks, settled.
#ifndef PACKTRAIN_CLIENT_INTERNAL_OUTBOX_H_
#define PACKTRAIN_CLIENT_INTERNAL_OUTBOX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace packtrain::client {

// A bounded queue with at most one block in flight. Records are numbered from 0 as they are added. Not
// thread-safe.
template <typename T>
class Outbox {
 public:
  // Holds `capacity` records, at least 1, those in flight included; a block in flight is never dropped.
  explicit Outbox(std::size_t capacity) : capacity_(capacity) {}

  // Where the queue is full, the oldest waiting record is dropped.
  void Add(T record) {
    if (records_.size() >= capacity_ && waiting() > 0) {
      records_.erase(InFlightEnd());
      ++dropped_;
    }
    records_.push_back(std::move(record));
    ++added_;
  }

  // The oldest records, at most `most` and as far as `alike(first, record)` holds, are in flight from now on.
  // Only while none are.
  template <typename Alike>
  std::vector<T> Take(std::size_t most, Alike alike) {
    first_in_flight_ = FirstWaiting();
    const auto begin = records_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most, records_.size()));
    const auto other = std::find_if(begin, end, [&](const T& record) { return !alike(*begin, record); });
    in_flight_ = static_cast<std::size_t>(other - begin);
    return std::vector<T>(begin, other);
  }

  // What was in flight needs no more sending.
  void Settle() {
    records_.erase(records_.begin(), InFlightEnd());
    in_flight_ = 0;
  }

  // In flight and waiting, oldest first.
  const std::deque<T>& outstanding() const { return records_; }
  std::size_t in_flight() const { return in_flight_; }
  std::size_t waiting() const { return records_.size() - in_flight_; }
  std::uint64_t added() const { return added_; }
  std::uint64_t dropped() const { return dropped_; }
  // Every record with a smaller number is settled or dropped.
  std::uint64_t settled_up_to() const { return in_flight_ > 0 ? first_in_flight_ : FirstWaiting(); }

 private:
  std::uint64_t FirstWaiting() const { return added_ - waiting(); }
  typename std::deque<T>::iterator InFlightEnd() {
    return records_.begin() + static_cast<std::ptrdiff_t>(in_flight_);
  }

  const std::size_t capacity_;
  std::deque<T> records_;
  std::size_t in_flight_ = 0;  // of the oldest records
  std::uint64_t first_in_flight_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_OUTBOX_H_
