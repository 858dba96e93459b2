// The phases of a step.
#ifndef PACKTRAIN_TRAINER_ENGINE_MOMENT_H_
#define PACKTRAIN_TRAINER_ENGINE_MOMENT_H_

#include <cstddef>
#include <cstdint>

namespace packtrain::trainer {

// Beginnings of a step's phases, in order; the last is the step's end.
enum class Moment : std::uint8_t { kCopy, kForward, kBackward, kComm, kOptimizer, kEnd };
inline constexpr std::size_t kMoments = static_cast<std::size_t>(Moment::kEnd) + 1;

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_MOMENT_H_
