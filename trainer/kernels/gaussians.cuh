// The launch of gaussians.cu.
#ifndef PACKTRAIN_TRAINER_KERNELS_GAUSSIANS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_GAUSSIANS_CUH_

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace packtrain::trainer {

// Enqueues exp(-(d - c)^2 / width), at least e^-80, of every distance d and centre c into `gaussians`,
// [edges, centres]. Element: float or __nv_bfloat16, rounded from f32.
template <typename Element>
cudaError_t ExpandInGaussians(const float* distances, std::int64_t edges, const float* centre,
                              std::int64_t centres, float width, Element* gaussians, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_GAUSSIANS_CUH_
