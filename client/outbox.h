// Records on their way to a server: added, sent in blocks, settled.
#ifndef PACKTRAIN_CLIENT_OUTBOX_H_
#define PACKTRAIN_CLIENT_OUTBOX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
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
    if (outstanding() >= capacity_ && !waiting_.empty()) {
      waiting_.pop_front();
      ++dropped_;
    }
    waiting_.push_back(std::move(record));
    ++added_;
  }

  // Takes the oldest `most` records in flight. Only while none are.
  std::vector<T> Take(std::size_t most) {
    first_in_flight_ = FirstWaiting();
    in_flight_ = std::min(most, waiting_.size());
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(in_flight_);
    std::vector<T> block(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    return block;
  }

  // What was in flight needs no more sending.
  void Settle() { in_flight_ = 0; }

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t outstanding() const { return in_flight_ + waiting_.size(); }
  std::uint64_t added() const { return added_; }
  std::uint64_t dropped() const { return dropped_; }
  // Every record with a smaller number is settled or dropped.
  std::uint64_t settled_up_to() const { return in_flight_ > 0 ? first_in_flight_ : FirstWaiting(); }

 private:
  std::uint64_t FirstWaiting() const { return added_ - waiting_.size(); }

  const std::size_t capacity_;
  std::deque<T> waiting_;
  std::size_t in_flight_ = 0;
  std::uint64_t first_in_flight_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_OUTBOX_H_
