// The Gaussians that filters are made of, in kernels that do not store them. For CUDA sources.
#ifndef PACKTRAIN_TRAINER_KERNELS_GAUSSIAN_OF_GAP_CUH_
#define PACKTRAIN_TRAINER_KERNELS_GAUSSIAN_OF_GAP_CUH_

namespace packtrain::trainer {

// exp(-gap^2 / width), at least e^-80.
__device__ inline float GaussianOf(float gap, float width) { return expf(fmaxf(-gap * gap / width, -80.0f)); }

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_GAUSSIAN_OF_GAP_CUH_
