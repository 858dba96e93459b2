// Checks of the models that use fused kernels, against the plain ones in f64.
#ifndef PACKTRAIN_TRAINER_SELFTEST_MODEL_CHECKS_H_
#define PACKTRAIN_TRAINER_SELFTEST_MODEL_CHECKS_H_

#include <span>

#include "trainer/selftest/check.h"

namespace packtrain::trainer {

std::span<const Check> ModelChecks();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_MODEL_CHECKS_H_
