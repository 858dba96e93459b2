// Figures of the steps of a training.
#ifndef PACKTRAIN_TRAINER_RUN_STEP_STATISTICS_H_
#define PACKTRAIN_TRAINER_RUN_STEP_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <utility>

#include "proto/wire/step_columns.h"
#include "trainer/run/time_histogram.h"

namespace packtrain::trainer {

// Over steady steps: no warm-up, capture, checkpoint or evaluation. NaN where there was none. Quantiles are
// those of TimeHistogram; the rest is exact.
struct SteadyFigures {
  std::uint64_t steps = 0;
  std::uint64_t graphs = 0;
  double seconds = 0;
  double mean_us = 0;
  double median_us = 0;
  double p5_us = 0;
  double p95_us = 0;
  double wait_share = 0;
};

// What has been added up.
struct StepTotals {
  std::uint64_t steps = 0;
  std::uint64_t graphs = 0;
  std::uint64_t steady_graphs = 0;
  std::uint64_t steady_wait_ns = 0;
  double last_loss = std::numeric_limits<double>::quiet_NaN();  // of the last step that had one
  TimeHistogram steady;                                         // totals of steady steps
};

// Used by one thread.
class StepStatistics {
 public:
  // Goes on from `totals`.
  explicit StepStatistics(StepTotals totals = {}) : totals_(std::move(totals)) {}

  void Add(const wire::StepRecord& step);

  SteadyFigures Steady() const;
  const StepTotals& totals() const { return totals_; }

 private:
  StepTotals totals_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_STEP_STATISTICS_H_
