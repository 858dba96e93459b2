// The launch of distances.cu; without Torch, whose headers take ten times as long to compile as a kernel.
#ifndef PACKTRAIN_TRAINER_KERNELS_DISTANCES_CUH_
#define PACKTRAIN_TRAINER_KERNELS_DISTANCES_CUH_

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

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_DISTANCES_CUH_
