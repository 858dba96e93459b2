// Rows of floats read and written as vectors. For CUDA sources.
#ifndef PACKTRAIN_TRAINER_KERNELS_FLOAT_VECTOR_H_
#define PACKTRAIN_TRAINER_KERNELS_FLOAT_VECTOR_H_

#include <cuda_runtime.h>

#include <cstdint>

namespace packtrain::trainer {

// Floats of a `Vector`, which is float or float4.
template <typename Vector>
inline constexpr int kWidth = sizeof(Vector) / sizeof(float);

// Whether rows of `columns` floats that lie one behind the other from each of `rows` on are rows of float4.
template <typename... Pointers>
bool AreRowsOfVectors(std::int64_t columns, Pointers... rows) {
  const auto aligned = [](const float* row) {
    return reinterpret_cast<std::uintptr_t>(row) % sizeof(float4) == 0;
  };
  return columns % kWidth<float4> == 0 && (aligned(rows) && ...);
}

// `operation` of the elements at each place.
template <typename Operation, typename... Inputs>
__device__ float Map(Operation operation, float first, Inputs... more) {
  return operation(first, more...);
}
template <typename Operation, typename... Inputs>
__device__ float4 Map(Operation operation, float4 first, Inputs... more) {
  return {operation(first.x, more.x...), operation(first.y, more.y...), operation(first.z, more.z...),
          operation(first.w, more.w...)};
}

struct Product {
  __device__ float operator()(float a, float b) const { return a * b; }
};

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct ProductAndSum {
  __device__ float operator()(float a, float b, float sum) const { return fmaf(a, b, sum); }
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_FLOAT_VECTOR_H_
