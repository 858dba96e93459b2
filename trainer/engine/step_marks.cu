#include "trainer/engine/step_marks.h"

#include "trainer/kernels/early_launch.cuh"

namespace packtrain::trainer {
namespace {

__device__ std::int64_t Now() {
  std::int64_t now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  return now_ns;
}

template <bool kNext, bool kSums>
__global__ void Mark(MarkRing ring, Moment moment, const float* sums) {
  LetNextBegin();
  WaitForEarlier();
  if constexpr (kNext) ++*ring.current;
  StepMarks& step = ring.steps[*ring.current % ring.capacity];
  step.moment_ns[static_cast<std::size_t>(moment)] = Now();
  if constexpr (kSums) {
    for (std::size_t i = 0; i < kStepSums; ++i) step.sums[i] = sums[i];
  }
}

__global__ void Read(std::int64_t* now_ns) { *now_ns = Now(); }

__global__ void Measure(std::int64_t* resolution_ns) {
  std::int64_t smallest = INT64_MAX;
  std::int64_t last = Now();
  for (int changes = 0; changes < 64;) {
    const std::int64_t now = Now();
    if (now == last) continue;
    smallest = min(smallest, now - last);
    last = now;
    ++changes;
  }
  *resolution_ns = smallest;
}

}  // namespace

cudaError_t MarkNextStep(const MarkRing& ring, Moment moment, cudaStream_t stream) {
  Mark<true, false><<<1, 1, 0, stream>>>(ring, moment, nullptr);
  return cudaGetLastError();
}

cudaError_t MarkMoment(const MarkRing& ring, Moment moment, cudaStream_t stream) {
  return LaunchEarly(Mark<false, false>, 1, 1, 0, stream, ring, moment, static_cast<const float*>(nullptr));
}

cudaError_t MarkSums(const MarkRing& ring, Moment moment, const float* sums, cudaStream_t stream) {
  return LaunchEarly(Mark<false, true>, 1, 1, 0, stream, ring, moment, sums);
}

cudaError_t ReadClock(std::int64_t* now_ns, cudaStream_t stream) {
  Read<<<1, 1, 0, stream>>>(now_ns);
  return cudaGetLastError();
}

cudaError_t MeasureClock(std::int64_t* resolution_ns, cudaStream_t stream) {
  Measure<<<1, 1, 0, stream>>>(resolution_ns);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
