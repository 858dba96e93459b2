// Checks of the fused kernels, against the plain ones in f64.
#ifndef PACKTRAIN_TRAINER_SELFTEST_KERNEL_CHECKS_H_
#define PACKTRAIN_TRAINER_SELFTEST_KERNEL_CHECKS_H_

#include <span>

#include "trainer/selftest/check.h"

namespace packtrain::trainer {

std::span<const Check> KernelChecks();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_KERNEL_CHECKS_H_
