// Checks of the feed of a GPU.
#ifndef PACKTRAIN_TRAINER_SELFTEST_FEED_CHECKS_H_
#define PACKTRAIN_TRAINER_SELFTEST_FEED_CHECKS_H_

#include <span>

#include "trainer/selftest/check.h"

namespace packtrain::trainer {

// On the current card.
std::span<const Check> FeedChecks();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_FEED_CHECKS_H_
