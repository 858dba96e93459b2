// Histograms of the durations of reported training steps, by phase.
#ifndef PACKTRAIN_SERVER_METRICS_STEP_DURATIONS_H_
#define PACKTRAIN_SERVER_METRICS_STEP_DURATIONS_H_

#include <array>
#include <span>
#include <vector>

#include "proto/base/mutex.h"
#include "proto/wire/step_columns.h"
#include "server/metrics/histogram.h"

namespace packtrain::metrics {

// Seconds, in steps of 1, 2.5 and 5.
inline constexpr std::array<double, 19> kStepSeconds = {
    1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100};

// One for each of wire::kTrainerPhases, in their order.
struct StepHistograms {
  std::vector<Histogram> by_phase =
      std::vector<Histogram>(wire::kTrainerPhases.size(), Histogram(kStepSeconds));
};

// Any number of threads may use it.
class StepDurations {
 public:
  void Observe(std::span<const wire::StepRecord> steps);
  StepHistograms Read() const;

 private:
  mutable base::Mutex mutex_;
  StepHistograms histograms_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_STEP_DURATIONS_H_
