// Checks of steps on the GPU: that a captured one is an eager one.
#ifndef PACKTRAIN_TRAINER_SELFTEST_ENGINE_CHECKS_H_
#define PACKTRAIN_TRAINER_SELFTEST_ENGINE_CHECKS_H_

#include <span>

#include "trainer/selftest/check.h"

namespace packtrain::trainer {

std::span<const Check> EngineChecks();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_ENGINE_CHECKS_H_
