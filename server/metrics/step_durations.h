// Histograms of the durations of reported training steps, by phase.
#ifndef PACKTRAIN_SERVER_METRICS_STEP_DURATIONS_H_
#define PACKTRAIN_SERVER_METRICS_STEP_DURATIONS_H_

#include <array>
#include <cstdint>
#include <span>

#include "proto/base/mutex.h"
#include "proto/wire/step_record.h"
#include "server/metrics/histogram.h"

namespace packtrain::metrics {

struct StepPhase {
  const char* name;
  std::uint64_t wire::StepRecord::*nanoseconds;
};
inline constexpr std::array<StepPhase, 7> kStepPhases = {{{"wait", &wire::StepRecord::wait_ns},
                                                          {"copy", &wire::StepRecord::copy_ns},
                                                          {"forward", &wire::StepRecord::forward_ns},
                                                          {"backward", &wire::StepRecord::backward_ns},
                                                          {"optimizer", &wire::StepRecord::optimizer_ns},
                                                          {"comm", &wire::StepRecord::comm_ns},
                                                          {"total", &wire::StepRecord::total_ns}}};

// Seconds, in steps of 1, 2.5 and 5.
inline constexpr std::array<double, 19> kStepSeconds = {
    1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100};

// As kStepPhases.
struct StepHistograms {
  std::array<Histogram, kStepPhases.size()> by_phase = {
      Histogram(kStepSeconds), Histogram(kStepSeconds), Histogram(kStepSeconds), Histogram(kStepSeconds),
      Histogram(kStepSeconds), Histogram(kStepSeconds), Histogram(kStepSeconds)};
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
