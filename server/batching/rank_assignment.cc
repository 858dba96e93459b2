#include "server/batching/rank_assignment.h"

#include <algorithm>

namespace packtrain::batching {

RankAssignment::RankAssignment(std::uint64_t batches, std::uint32_t world_size, bool drop_last)
    : world_size_(world_size),
      steps_((batches + (drop_last ? 0 : world_size - 1)) / world_size),
      delivered_(std::min(batches, steps_ * world_size)) {}

}  // namespace packtrain::batching
