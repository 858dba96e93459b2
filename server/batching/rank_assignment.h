// Which rank gets which batch at which step.
#ifndef PACKTRAIN_SERVER_BATCHING_RANK_ASSIGNMENT_H_
#define PACKTRAIN_SERVER_BATCHING_RANK_ASSIGNMENT_H_

#include <cstdint>

namespace packtrain::batching {

// Deals batches out in turn: batch s*R + r goes to rank r at step s, so every rank has the same number of
// steps. A last step with fewer batches than ranks is filled up with empty ones, or, with drop_last, left
// out. Immutable; any number of threads may use it.
class RankAssignment {
 public:
  // `batches` real batches in the epoch; world_size >= 1.
  RankAssignment(std::uint64_t batches, std::uint32_t world_size, bool drop_last);

  std::uint64_t steps() const { return steps_; }
  // Batches of all ranks, empty ones included.
  std::uint64_t slots() const { return steps_ * world_size_; }
  // Real batches that are delivered, always the first ones.
  std::uint64_t delivered() const { return delivered_; }

  std::uint64_t StepOf(std::uint64_t index) const { return index / world_size_; }
  std::uint32_t RankOf(std::uint64_t index) const { return static_cast<std::uint32_t>(index % world_size_); }
  bool IsEmpty(std::uint64_t index) const { return index >= delivered_; }
  // The batch of rank 0 at a step; never empty.
  std::uint64_t FirstOfStep(std::uint64_t step) const { return step * world_size_; }

 private:
  std::uint32_t world_size_;
  std::uint64_t steps_;
  std::uint64_t delivered_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_RANK_ASSIGNMENT_H_
