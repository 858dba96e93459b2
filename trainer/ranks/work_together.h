// Work of the ranks that may take longer than they wait for each other.
#ifndef PACKTRAIN_TRAINER_RANKS_WORK_TOGETHER_H_
#define PACKTRAIN_TRAINER_RANKS_WORK_TOGETHER_H_

#include <chrono>
#include <functional>

#include "absl/status/status.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {

// Runs `work` on a thread of its own and returns what it returned once all ranks are through with theirs. All
// ranks call it. Until then they hear of each other at least every `round`, so that the timeout of a collective
// ends none. Codes of `work`; else as GradientSync::Sum, which does not end the work of this rank.
absl::Status WorkTogether(GradientSync& sync, const std::function<absl::Status()>& work,
                          std::chrono::milliseconds round = std::chrono::seconds(10));

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_WORK_TOGETHER_H_
