#include "trainer/kernels/distances.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) Measure(EdgeEnds ends, float* distances) {
  const std::int64_t edge = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (edge >= ends.edges) return;
  float square = 0;
  if (edge < ends.real[2]) {
    const float* from = ends.positions + std::int64_t{3} * ends.senders[edge];
    const float* to = ends.positions + std::int64_t{3} * ends.receivers[edge];
    for (int axis = 0; axis < 3; ++axis) square += (from[axis] - to[axis]) * (from[axis] - to[axis]);
  }
  distances[edge] = sqrtf(square);
}

}  // namespace

cudaError_t MeasureEdges(const EdgeEnds& ends, float* distances, cudaStream_t stream) {
  if (ends.edges == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((ends.edges + kThreads - 1) / kThreads);
  Measure<<<blocks, kThreads, 0, stream>>>(ends, distances);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
