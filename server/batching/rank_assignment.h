// Which rank gets which batch at which step.
#ifndef PACKTRAIN_SERVER_BATCHING_RANK_ASSIGNMENT_H_
#define PACKTRAIN_SERVER_BATCHING_RANK_ASSIGNMENT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

// INVALID_ARGUMENT: the world or one of its segments has no ranks or no steps, or there are too many segments.
// Whether segments fit an epoch depends on its batches, and is RankAssignment's to say.
absl::Status CheckWorld(const wire::World& world);

// Deals batches out in turn, one to each rank at each step in the order of the ranks, so every rank has the
// same number of steps. A last step with fewer batches than ranks is filled up with empty batches or, with
// drop_last, dropped. Where the world changes after a segment, the new ranks continue with the batch at which
// the old ones stopped. Without segments, batch s*R + r goes to rank r at step s.
// Immutable; any number of threads may use it.
class RankAssignment {
 public:
  struct Place {
    std::uint64_t step = 0;
    std::uint32_t rank = 0;
  };
  // Steps of one number of ranks, up to the next stretch or the epoch's end.
  struct Stretch {
    std::uint64_t first_step = 0;
    std::uint64_t first_index = 0;
    std::uint32_t world_size = 1;
  };

  // `batches` is the number of real batches in the epoch. Codes: those of Plan::Create that concern the world
  // or drop_last.
  static absl::StatusOr<RankAssignment> Create(std::uint64_t batches, const wire::World& world, bool drop_last);

  std::uint64_t steps() const { return steps_; }
  // Batches of all ranks, empty ones included.
  std::uint64_t slots() const { return FirstOfStep(steps_); }
  // Ascending; the last one has World::size ranks.
  std::span<const Stretch> stretches() const { return stretches_; }

  // For an index below slots.
  Place PlaceOf(std::uint64_t index) const;
  // The batch of rank 0 at a step, 0 .. steps; never empty, save at `steps`, where it is `slots`.
  std::uint64_t FirstOfStep(std::uint64_t step) const;

 private:
  RankAssignment(std::uint64_t batches, const wire::World& world, bool drop_last);

  std::vector<Stretch> stretches_;
  std::uint64_t steps_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_RANK_ASSIGNMENT_H_
