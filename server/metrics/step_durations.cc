#include "server/metrics/step_durations.h"

#include <cstddef>
#include <cstdint>

namespace packtrain::metrics {

void StepDurations::Observe(std::span<const wire::StepRecord> steps) {
  base::MutexLock lock(mutex_);
  for (const wire::StepRecord& step : steps) {
    for (std::size_t k = 0; k < wire::kTrainerPhases.size(); ++k) {
      const std::uint64_t nanoseconds = wire::kTrainerPhases[k].nanoseconds(step);
      histograms_.by_phase[k].Observe(static_cast<double>(nanoseconds) * 1e-9);
    }
  }
}

StepHistograms StepDurations::Read() const {
  base::MutexLock lock(mutex_);
  return histograms_;
}

}  // namespace packtrain::metrics
