// ln(1 + e^x) - ln 2, an activation.
#ifndef PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_H_
#define PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace packtrain::trainer {

// All pointers are to `count` elements in device memory. Each enqueues one launch.
cudaError_t ShiftSoftplus(const float* x, std::int64_t count, float* y, cudaStream_t stream);

// The gradient `d_x` of what has the gradient `d_y` by the activation of `x`.
cudaError_t ShiftSoftplusBackward(const float* x, const float* d_y, std::int64_t count, float* d_x,
                                  cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_H_
