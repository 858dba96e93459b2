#include "trainer/engine/adam_update.cuh"

#include <algorithm>

#include "trainer/engine/step_sums.h"
#include "trainer/kernels/early_launch.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMaxBlocks = 1024;

__device__ bool Halts(const AdamUpdate& update, std::int64_t i) {
  const float value = update.reduced[i];
  const std::int64_t sum = i - update.count;
  return !isfinite(value) || ((sum == kWithdrawals || sum == kHalted) && value > 0);
}

// All that write, write the same.
__global__ void __launch_bounds__(kThreads) FindHalt(AdamUpdate update) {
  LetNextBegin();
  WaitForEarlier();
  const std::int64_t end = update.count + static_cast<std::int64_t>(kStepSums);
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < end; i += stride) {
    if (Halts(update, i)) *update.halted = 1;
  }
}

struct Correction {
  float rate;         // over 1 - beta1^steps
  float square_root;  // of 1 - beta2^steps
};

__device__ Correction CorrectionOf(const AdamUpdate& update) {
  const double steps = double{*update.steps} + 1;
  return {static_cast<float>(*update.rate / (1 - pow(update.beta1, steps))),
          static_cast<float>(sqrt(1 - pow(update.beta2, steps)))};
}

__device__ void UpdateOne(const AdamUpdate& update, const Correction& correction, float terms, std::int64_t i) {
  const auto beta1 = static_cast<float>(update.beta1), beta2 = static_cast<float>(update.beta2);
  const float gradient = update.reduced[i] / terms;
  const float mean = beta1 * update.mean[i] + (1 - beta1) * gradient;
  const float square = beta2 * update.square[i] + (1 - beta2) * gradient * gradient;
  const float size = sqrtf(square) / correction.square_root + static_cast<float>(update.epsilon);
  update.reduced[i] = gradient;
  update.mean[i] = mean;
  update.square[i] = square;
  update.parameters[i] -= correction.rate * mean / size;
}

// The block that ends last counts the step, when all have read how many there were.
__device__ void CountStep(const AdamUpdate& update, bool halted) {
  __syncthreads();
  if (threadIdx.x != 0 || atomicInc(update.blocks_done, gridDim.x - 1) != gridDim.x - 1) return;
  if (!halted) *update.steps += 1;
  update.reduced[update.count + kHalted] = *update.halted;
}

__global__ void __launch_bounds__(kThreads) Update(AdamUpdate update) {
  __shared__ Correction correction;
  if (threadIdx.x == 0) correction = CorrectionOf(update);
  LetNextBegin();
  WaitForEarlier();
  __syncthreads();
  const bool halted = *update.halted != 0;
  if (!halted) {
    const float terms = fmaxf(update.reduced[update.count + kTerms], 1);
    const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < update.count; i += stride) {
      UpdateOne(update, correction, terms, i);
    }
  }
  CountStep(update, halted);
}

}  // namespace

cudaError_t EnqueueAdam(const AdamUpdate& update, cudaStream_t stream) {
  const std::int64_t wanted = (update.count + kThreads - 1) / kThreads;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, kMaxBlocks));
  const cudaError_t error = LaunchEarly(FindHalt, blocks, kThreads, 0, stream, update);
  if (error != cudaSuccess) return error;
  return LaunchEarly(Update, blocks, kThreads, 0, stream, update);
}

}  // namespace packtrain::trainer
