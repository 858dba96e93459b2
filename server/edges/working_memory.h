// Memory for the work on one graph after another, which is asked for before it is taken.
#ifndef PACKTRAIN_SERVER_EDGES_WORKING_MEMORY_H_
#define PACKTRAIN_SERVER_EDGES_WORKING_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace packtrain::edges {

// Counts what the steps of the work hold from graph to graph. Each step says so before it allocates, and gives
// up where it may not. Used by one thread.
class WorkingMemory {
 public:
  // Called before more is held than ever before, with all that is held from then on, rounded up; a failure is
  // that of the step that asks.
  using Take = std::function<absl::Status(std::uint64_t bytes)>;

  // Null: there is as much as is asked for.
  explicit WorkingMemory(Take take = nullptr) : take_(std::move(take)) {}
  WorkingMemory(const WorkingMemory&) = delete;
  WorkingMemory& operator=(const WorkingMemory&) = delete;

  // What was taken.
  std::uint64_t bytes() const { return taken_; }

  // Raises `held`, a count of one step's memory, to `bytes` where it is less. Codes as Take; then it stays.
  absl::Status Raise(std::uint64_t& held, std::uint64_t bytes) {
    if (bytes <= held) [[likely]] {
      return absl::OkStatus();
    }
    if (absl::Status status = Require(held_ - held + bytes); !status.ok()) return status;
    held_ += bytes - std::exchange(held, bytes);
    return absl::OkStatus();
  }

  // Gives a list whose final size is not known room for `size` elements, and for half as many again as it had,
  // so that it seldom moves. Codes as Take; then the list stays as it is.
  template <typename T>
  absl::Status Grow(std::vector<T>& list, std::size_t size) {
    const std::size_t room = list.capacity();
    if (size <= room) [[likely]] {
      return absl::OkStatus();
    }
    const std::size_t wider = std::max(size, room + room / 2);
    // The old place is there until all has moved to the new one.
    if (absl::Status status = Require(held_ + wider * sizeof(T)); !status.ok()) return status;
    list.reserve(wider);
    held_ += (wider - room) * sizeof(T);
    return absl::OkStatus();
  }

 private:
  // Steps of what is taken, so that small graphs seldom ask.
  static constexpr std::uint64_t kStepBytes = 64 << 10;

  absl::Status Require(std::uint64_t bytes) {
    if (bytes <= taken_) return absl::OkStatus();
    const std::uint64_t steps = (bytes + kStepBytes - 1) / kStepBytes * kStepBytes;
    if (take_ != nullptr) {
      if (absl::Status status = take_(steps); !status.ok()) return status;
    }
    taken_ = steps;
    return absl::OkStatus();
  }

  const Take take_;
  std::uint64_t held_ = 0;   // by all steps
  std::uint64_t taken_ = 0;  // no less
};

// Gives a list or string room for `size` elements and no more. Where it had less it is emptied, and its old
// place is free before the new one is taken.
template <typename List>
void MakeRoom(List& list, std::size_t size) {
  if (list.capacity() >= size) return;
  list = List();
  list.reserve(size);
}

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_WORKING_MEMORY_H_
