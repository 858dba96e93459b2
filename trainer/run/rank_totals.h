// Figures of all ranks.
#ifndef PACKTRAIN_TRAINER_RUN_RANK_TOTALS_H_
#define PACKTRAIN_TRAINER_RUN_RANK_TOTALS_H_

#include "absl/status/status.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/step_statistics.h"

namespace packtrain::trainer {

// Replaces the graphs in `totals` by their sums over the ranks; its times stay this rank's. All ranks call it.
// Codes as GradientSync::Sum.
absl::Status SumGraphs(StepTotals& totals, GradientSync& sync);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_RANK_TOTALS_H_
