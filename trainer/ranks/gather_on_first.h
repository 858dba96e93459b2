// What all ranks have, on rank 0.
#ifndef PACKTRAIN_TRAINER_RANKS_GATHER_ON_FIRST_H_
#define PACKTRAIN_TRAINER_RANKS_GATHER_ON_FIRST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {

// Each rank's `bytes`, by rank, on rank 0; none on the others. All ranks call it. The bytes pass in parts of
// `part_bytes`, so that a rank takes no memory for what others have, except rank 0. Codes as GradientSync::Sum.
absl::StatusOr<std::vector<std::string>> GatherOnFirst(const std::string& bytes, GradientSync& sync,
                                                       std::int64_t part_bytes = 16 << 20);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_GATHER_ON_FIRST_H_
