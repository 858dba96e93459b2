#include "trainer/kernels/error_sum.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 1024;

__device__ float SlopeOf(float difference, bool squared) {
  if (squared) return 2 * difference;
  return static_cast<float>((difference > 0) - (difference < 0));
}

// A batch has few graphs: one block adds up all of them.
__global__ void __launch_bounds__(kThreads) SumErrors(ErrorTerms in, bool squared, ErrorSums out) {
  __shared__ float2 sums[kThreads];
  float2 own = {0, 0};
  for (int i = static_cast<int>(threadIdx.x); i < in.count; i += kThreads) {
    const float weight = in.weights[i];
    const float difference = weight > 0 ? in.outputs[i] - in.targets[i] : 0.0f;
    own.x += squared ? difference * difference : fabsf(difference);
    own.y += weight;
    out.slopes[i] = SlopeOf(difference, squared);
  }
  sums[threadIdx.x] = own;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    sums[threadIdx.x].x += sums[threadIdx.x + half].x;
    sums[threadIdx.x].y += sums[threadIdx.x + half].y;
  }
  if (threadIdx.x > 0) return;
  *out.sum = sums[0].x;
  *out.terms = sums[0].y;
}

}  // namespace

cudaError_t EnqueueSumErrors(const ErrorTerms& in, bool squared, const ErrorSums& out, cudaStream_t stream) {
  SumErrors<<<1, kThreads, 0, stream>>>(in, squared, out);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
