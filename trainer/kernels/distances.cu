#include "trainer/kernels/distances.h"

#include <algorithm>

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 256;
// Edges whose Gaussians a block makes: so few that a small batch reaches all of a card.
constexpr int kEdgesPerBlock = 8;

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

// A block's results lie together, so that its threads write side by side whatever the number of centres.
__global__ void __launch_bounds__(kThreads)
    Expand(const float* distances, std::int64_t edges, const float* centre, unsigned centres, float factor,
           float* gaussians) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kEdgesPerBlock;
  const auto count = static_cast<unsigned>(min(std::int64_t{kEdgesPerBlock}, edges - first));
  for (unsigned i = threadIdx.x; i < count * centres; i += kThreads) {
    const float gap = __ldg(distances + first + i / centres) - __ldg(centre + i % centres);
    const float exponent = gap * gap * factor;
    gaussians[first * centres + i] = expf(exponent < -80 ? -80.0f : exponent);  // what is no number stays none
  }
}

unsigned BlocksFor(std::int64_t work, std::int64_t per_block) {
  return static_cast<unsigned>((work + per_block - 1) / per_block);
}

}  // namespace

cudaError_t MeasureEdges(const EdgeEnds& ends, float* distances, cudaStream_t stream) {
  if (ends.edges == 0) return cudaSuccess;
  Measure<<<BlocksFor(ends.edges, kThreads), kThreads, 0, stream>>>(ends, distances);
  return cudaGetLastError();
}

cudaError_t ExpandInGaussians(const float* distances, std::int64_t edges, const float* centre,
                              std::int64_t centres, float width, float* gaussians, cudaStream_t stream) {
  if (edges == 0 || centres == 0) return cudaSuccess;
  Expand<<<BlocksFor(edges, kEdgesPerBlock), kThreads, 0, stream>>>(
      distances, edges, centre, static_cast<unsigned>(centres), -1 / width, gaussians);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
