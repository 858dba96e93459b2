#include "server/batching/rank_assignment.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::batching {
namespace {

std::uint64_t LeftAt(std::uint64_t batches, std::uint64_t index) { return batches - std::min(batches, index); }

// How many steps `batches` batches make.
std::uint64_t StepsOf(std::uint64_t batches, std::uint32_t world_size, bool drop_last) {
  return batches / world_size + (!drop_last && batches % world_size != 0 ? 1 : 0);
}

// No product below is more than `batches` and a world size together.
absl::Status CheckSegmentsFit(std::uint64_t batches, const wire::World& world, bool drop_last) {
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < world.segments.size(); ++i) {
    const wire::Segment& segment = world.segments[i];
    const std::uint64_t left = LeftAt(batches, index);
    if (segment.steps > StepsOf(left, segment.world_size, drop_last)) {
      return absl::OutOfRangeError(absl::StrCat("segments[", i, "] has ", segment.steps, " steps of ",
                                                segment.world_size, " ranks, but of the epoch's ", batches,
                                                " batches ", left, " are left there"));
    }
    index += segment.steps * segment.world_size;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckWorld(const wire::World& world) {
  if (world.size == 0) return absl::InvalidArgumentError("--world-size must be at least 1");
  if (world.segments.size() > kMaxSegments) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", world.segments.size(), " segments; the most is ", kMaxSegments));
  }
  for (std::size_t i = 0; i < world.segments.size(); ++i) {
    const wire::Segment& segment = world.segments[i];
    if (segment.world_size >= 1 && segment.steps >= 1) continue;
    return absl::InvalidArgumentError(absl::StrCat("segments[", i, "] has ", segment.steps, " steps of ",
                                                   segment.world_size, " ranks; each must be at least 1"));
  }
  return absl::OkStatus();
}

absl::StatusOr<RankAssignment> RankAssignment::Create(std::uint64_t batches, const wire::World& world,
                                                      bool drop_last) {
  ABSL_RETURN_IF_ERROR(CheckWorld(world));
  ABSL_RETURN_IF_ERROR(CheckSegmentsFit(batches, world, drop_last));
  const RankAssignment ranks(batches, world, drop_last);
  if (ranks.steps() > 0) return ranks;
  return absl::FailedPreconditionError(absl::StrCat("--drop-last leaves no step: the epoch has ", batches,
                                                    " batches for ", world.size, " ranks"));
}

RankAssignment::RankAssignment(std::uint64_t batches, const wire::World& world, bool drop_last) {
  Stretch next;
  for (const wire::Segment& segment : world.segments) {
    next.world_size = segment.world_size;
    stretches_.push_back(next);
    next.first_step += segment.steps;
    next.first_index += segment.steps * segment.world_size;
  }
  next.world_size = world.size;
  stretches_.push_back(next);
  steps_ = next.first_step + StepsOf(LeftAt(batches, next.first_index), world.size, drop_last);
}

RankAssignment::Place RankAssignment::PlaceOf(std::uint64_t index) const {
  const auto is_before = [](std::uint64_t at, const Stretch& stretch) { return at < stretch.first_index; };
  const Stretch& stretch = *std::prev(std::upper_bound(stretches_.begin(), stretches_.end(), index, is_before));
  const std::uint64_t inside = index - stretch.first_index;
  return {stretch.first_step + inside / stretch.world_size,
          static_cast<std::uint32_t>(inside % stretch.world_size)};
}

std::uint64_t RankAssignment::FirstOfStep(std::uint64_t step) const {
  const auto is_before = [](std::uint64_t at, const Stretch& stretch) { return at < stretch.first_step; };
  const Stretch& stretch = *std::prev(std::upper_bound(stretches_.begin(), stretches_.end(), step, is_before));
  return stretch.first_index + (step - stretch.first_step) * stretch.world_size;
}

}  // namespace packtrain::batching
