// How a learning rate goes on.
#ifndef PACKTRAIN_TRAINER_ENGINE_RATE_SCHEDULE_H_
#define PACKTRAIN_TRAINER_ENGINE_RATE_SCHEDULE_H_

#include <cstdint>

namespace packtrain::trainer {

enum class RateSchedule : std::uint8_t {
  kStaircase,  // times a factor after each so many of all steps
  kCosine,     // half a cosine, from the end of the warm-up down to 0 at the training's last step
  kConstant,
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_RATE_SCHEDULE_H_
