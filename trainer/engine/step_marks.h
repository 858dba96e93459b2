// Marks of a step's phases, written by the device in the order of its work.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_MARKS_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_MARKS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/engine/moment.h"
#include "trainer/engine/step_sums.h"

namespace packtrain::trainer {

// What one step leaves. Times are of the device's %globaltimer, in nanoseconds.
struct StepMarks {
  std::int64_t moment_ns[kMoments];
  float sums[kStepSums];
};

// Each step has the entry `*current % capacity`. Both pointers are good on the device; `steps` may be
// page-locked host memory.
struct MarkRing {
  StepMarks* steps = nullptr;
  std::uint32_t capacity = 1;
  std::uint32_t* current = nullptr;
};

// All of these enqueue one thread's work. Goes on to the next entry, and marks `moment` in it.
cudaError_t MarkNextStep(const MarkRing& ring, Moment moment, cudaStream_t stream);
cudaError_t MarkMoment(const MarkRing& ring, Moment moment, cudaStream_t stream);
// Also keeps `sums`, [kStepSums] in device memory.
cudaError_t MarkSums(const MarkRing& ring, Moment moment, const float* sums, cudaStream_t stream);

// Writes the time.
cudaError_t ReadClock(std::int64_t* now_ns, cudaStream_t stream);
// Writes the smallest step seen in 64 changes of the clock.
cudaError_t MeasureClock(std::int64_t* resolution_ns, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_MARKS_H_
