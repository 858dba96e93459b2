// What stands after the gradients where ranks add up.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_SUMS_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_SUMS_H_

#include <cstddef>
#include <cstdint>

namespace packtrain::trainer {

// The loss's sum and the number of its terms (see Loss), ranks that withdraw from the step, and ranks that have
// halted.
enum StepSum : std::uint8_t { kLoss, kTerms, kWithdrawals, kHalted };
inline constexpr std::size_t kStepSums = kHalted + 1;

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_SUMS_H_
