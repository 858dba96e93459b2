// The launches of shifted_softplus.cu.
#ifndef PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_CUH_

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace packtrain::trainer {

// All pointers are to `count` elements in device memory, float or __nv_bfloat16, computed with in f32. Each
// enqueues one launch.
template <typename Element>
cudaError_t EnqueueSoftplus(const Element* x, std::int64_t count, Element* y, cudaStream_t stream);

// The gradient `d_x` of what has the gradient `d_y` by the activation of `x`.
template <typename Element>
cudaError_t EnqueueSoftplusBackward(const Element* x, const Element* d_y, std::int64_t count, Element* d_x,
                                    cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_CUH_
