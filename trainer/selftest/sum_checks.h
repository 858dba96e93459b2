// Checks of sums that cards make among themselves, with as many of them as this host has, two at most.
#ifndef PACKTRAIN_TRAINER_SELFTEST_SUM_CHECKS_H_
#define PACKTRAIN_TRAINER_SELFTEST_SUM_CHECKS_H_

#include <span>

#include "trainer/selftest/check.h"

namespace packtrain::trainer {

std::span<const Check> SumChecks();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_SUM_CHECKS_H_
