// Checks of what a CUDA device says of itself.
#ifndef PACKTRAIN_TRAINER_SELFTEST_DEVICE_CHECKS_H_
#define PACKTRAIN_TRAINER_SELFTEST_DEVICE_CHECKS_H_

#include <span>

#include "trainer/selftest/check.h"

namespace packtrain::trainer {

std::span<const Check> DeviceChecks();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_DEVICE_CHECKS_H_
