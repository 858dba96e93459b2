// Lengths of edges, and Gaussians of them.
#ifndef PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_
#define PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace packtrain::trainer {

// What a launch reads, in device memory.
struct EdgeEnds {
  std::int64_t edges = 0;                   // padded
  const std::int32_t* senders = nullptr;    // [edges]
  const std::int32_t* receivers = nullptr;  // [edges]
  const std::int32_t* real = nullptr;       // [3], as GraphTensors has it
  const float* positions = nullptr;         // [nodes, 3]
};

// Enqueues the lengths of the real edges, and 0 for the padding, into `distances`, [edges].
cudaError_t MeasureEdges(const EdgeEnds& ends, float* distances, cudaStream_t stream);

// Enqueues exp(-(d - c)^2 / width), at least e^-80, of every distance d and centre c into `gaussians`,
// [edges, centres]. Element: float or __nv_bfloat16, rounded from f32.
template <typename Element>
cudaError_t ExpandInGaussians(const float* distances, std::int64_t edges, const float* centre,
                              std::int64_t centres, float width, Element* gaussians, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_
