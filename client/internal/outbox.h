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

// A bounded queue with at most one block in flight, whose oldest waiting records may be moved to a spool, from
// where they are sent before what waits. Records are numbered from 0 as they are added. Not thread-safe.
template <typename T>
class Outbox {
 public:
  // Holds `capacity` records, at least 1, those in flight included; a block in flight, or on its way to the
  // spool, is never lost.
  explicit Outbox(std::size_t capacity) : capacity_(capacity) {}

  // Where the queue is full, the oldest waiting record is lost.
  void Add(T record) {
    if (is_full() && waiting() > 0) {
      records_.erase(WaitingBegin());
      ++lost_;
    }
    records_.push_back(std::move(record));
    ++added_;
  }

  // The oldest records, at most `most` and as far as `alike(first, record)` holds, are in flight from now on;
  // none while older ones are in the spool, or on their way there. Only while none are in flight.
  template <typename Alike>
  std::vector<T> Take(std::size_t most, Alike alike) {
    if (spilling_ + spilled_ > 0) return {};
    first_in_flight_ = FirstWaiting();
    std::vector<T> block = OldestWaiting(most, alike);
    in_flight_ = block.size();
    return block;
  }

  // What was in flight needs no more sending.
  void Settle() {
    records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(in_flight_));
    in_flight_ = 0;
  }

  // As Take, but the records are on their way to the spool. Only while none are.
  template <typename Alike>
  std::vector<T> BeginSpill(std::size_t most, Alike alike) {
    first_spilling_ = FirstWaiting();
    std::vector<T> block = OldestWaiting(most, alike);
    spilling_ = block.size();
    return block;
  }
  // The number of the record behind those that are on their way.
  std::uint64_t spilling_end() const { return first_spilling_ + spilling_; }
  // They are in the spool, or else wait again.
  void EndSpill(bool moved) {
    if (moved) {
      if (spilled_ == 0) first_spilled_ = first_spilling_;
      spilled_ += spilling_;
      const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(in_flight_);
      records_.erase(begin, begin + static_cast<std::ptrdiff_t>(spilling_));
    }
    spilling_ = 0;
  }
  // The oldest `records` of the spool, up to number `end`, need no more sending.
  void SettleSpilled(std::size_t records, std::uint64_t end) {
    spilled_ -= records;
    first_spilled_ = end;
  }
  void LoseSpilled() { lost_ += std::exchange(spilled_, 0); }

  // In flight, on their way to the spool, and waiting, oldest first.
  const std::deque<T>& in_memory() const { return records_; }
  std::size_t in_flight() const { return in_flight_; }
  std::size_t waiting() const { return records_.size() - in_flight_ - spilling_; }
  // Whether Add loses a record, where one waits.
  bool is_full() const { return records_.size() >= capacity_; }
  // Whether Take gives any.
  bool has_next() const { return spilling_ + spilled_ == 0 && waiting() > 0; }
  // All that is neither settled nor lost.
  std::size_t outstanding() const { return records_.size() + spilled_; }
  std::uint64_t added() const { return added_; }
  std::uint64_t lost() const { return lost_; }
  // Every record with a smaller number is settled or lost.
  std::uint64_t settled_up_to() const {
    if (in_flight_ > 0) return first_in_flight_;
    if (spilled_ > 0) return first_spilled_;
    return spilled_end();
  }
  // Every record in the spool has a smaller number, and those on their way there and those that wait have none.
  std::uint64_t spilled_end() const { return spilling_ > 0 ? first_spilling_ : FirstWaiting(); }

 private:
  std::uint64_t FirstWaiting() const { return added_ - waiting(); }
  typename std::deque<T>::iterator WaitingBegin() {
    return records_.begin() + static_cast<std::ptrdiff_t>(in_flight_ + spilling_);
  }

  template <typename Alike>
  std::vector<T> OldestWaiting(std::size_t most, Alike alike) {
    const auto begin = WaitingBegin();
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most, waiting()));
    return std::vector<T>(begin,
                          std::find_if(begin, end, [&](const T& record) { return !alike(*begin, record); }));
  }

  const std::size_t capacity_;
  std::deque<T> records_;
  std::size_t in_flight_ = 0;  // of the oldest records
  std::size_t spilling_ = 0;   // of those behind them
  std::size_t spilled_ = 0;    // older than the records that wait
  std::uint64_t first_in_flight_ = 0;
  std::uint64_t first_spilling_ = 0;
  std::uint64_t first_spilled_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_OUTBOX_H_
