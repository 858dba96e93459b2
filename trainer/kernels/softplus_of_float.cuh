// The shifted softplus of one number and its gradient. For CUDA sources.
#ifndef PACKTRAIN_TRAINER_KERNELS_SOFTPLUS_OF_FLOAT_CUH_
#define PACKTRAIN_TRAINER_KERNELS_SOFTPLUS_OF_FLOAT_CUH_

#include "trainer/kernels/float_vector.cuh"

namespace packtrain::trainer {

// ln(1 + x), to be stored as `Element`.
template <typename Element>
__device__ float LogOfOneAnd(float x) {
  return kIsShort<Element> ? __logf(1 + x) : log1pf(x);
}

// ln(1 + e^x) - ln 2. Never overflows: e is raised to no positive power.
template <typename Element>
struct SoftplusValue {
  __device__ float operator()(float x) const {
    constexpr float kLn2 = 0.693147180559945f;
    return fmaxf(x, 0) + LogOfOneAnd<Element>(Exponential<Element>(-fabsf(x))) - kLn2;
  }
};

// Of x, where d_y is the gradient of the value.
template <typename Element>
struct SoftplusGradient {
  __device__ float operator()(float x, float d_y) const {
    const float divisor = 1 + Exponential<Element>(-x);
    return kIsShort<Element> ? __fdividef(d_y, divisor) : d_y / divisor;
  }
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_SOFTPLUS_OF_FLOAT_CUH_
