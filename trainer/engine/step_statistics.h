// Figures of the steps that this process made.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_STATISTICS_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "proto/wire/step_record.h"

namespace packtrain::trainer {

// Over steady steps: no warm-up, capture, checkpoint or evaluation. NaN where there was none.
struct SteadyFigures {
  std::uint64_t steps = 0;
  std::uint64_t graphs = 0;
  double seconds = 0;
  double mean_us = 0;
  double median_us = 0;
  double p95_us = 0;
  double wait_share = 0;
};

// Used by one thread. Keeps 8 bytes a step.
class StepStatistics {
 public:
  void Add(const wire::StepRecord& step);

  SteadyFigures Steady() const;
  std::uint64_t steps() const { return steps_; }
  std::uint64_t graphs() const { return graphs_; }
  // Of the last step that had one; NaN before.
  double last_loss() const { return last_loss_; }

 private:
  std::vector<std::uint64_t> steady_ns_;
  std::uint64_t steady_graphs_ = 0;
  std::uint64_t steady_wait_ns_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t graphs_ = 0;
  double last_loss_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_STATISTICS_H_
