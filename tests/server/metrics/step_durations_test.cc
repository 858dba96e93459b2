#include "server/metrics/step_durations.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace packtrain::metrics {
namespace {

TEST(StepDurationsTest, EachPhaseIsCountedByItself) {
  wire::StepRecord step;
  step.wait_ns = 1'000'000;
  step.copy_ns = 2'000'000;
  step.forward_ns = 3'000'000;
  step.backward_ns = 4'000'000;
  step.optimizer_ns = 5'000'000;
  step.comm_ns = 6'000'000;
  step.total_ns = 21'000'000;
  StepDurations durations;
  durations.Observe(std::vector<wire::StepRecord>{step, step});
  const StepHistograms read = durations.Read();
  const double milliseconds[] = {1, 2, 3, 4, 5, 6, 21};
  for (std::size_t k = 0; k < wire::kTrainerPhases.size(); ++k) {
    EXPECT_DOUBLE_EQ(read.by_phase[k].sum(), 2 * milliseconds[k] * 1e-3) << wire::kTrainerPhases[k].name;
    EXPECT_EQ(read.by_phase[k].count(), 2);
  }
}

}  // namespace
}  // namespace packtrain::metrics
