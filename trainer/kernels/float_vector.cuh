// Rows of floats, or of bf16, read and written as vectors of floats. For CUDA sources.
#ifndef PACKTRAIN_TRAINER_KERNELS_FLOAT_VECTOR_CUH_
#define PACKTRAIN_TRAINER_KERNELS_FLOAT_VECTOR_CUH_

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace packtrain::trainer {

// Floats of a `Vector`, which is float or float4.
template <typename Vector>
inline constexpr int kWidth = sizeof(Vector) / sizeof(float);

// Whether rows of `columns` elements that lie one after the other from each of `rows` on can be read and
// written as float4.
template <typename... Elements>
bool AreRowsOfVectors(std::int64_t columns, const Elements*... rows) {
  const auto aligned = []<typename Element>(const Element* row) {
    return reinterpret_cast<std::uintptr_t>(row) % (kWidth<float4> * sizeof(Element)) == 0;
  };
  return columns % kWidth<float4> == 0 && (aligned(rows) && ...);
}

// Vector number `at` of rows that none writes meanwhile.
template <typename Vector>
__device__ Vector Load(const float* rows, std::int64_t at) {
  return __ldg(reinterpret_cast<const Vector*>(rows) + at);
}

// A bf16 is the upper half of a float.
__device__ inline float LowHalf(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float HighHalf(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

template <typename Vector>
__device__ Vector Load(const __nv_bfloat16* rows, std::int64_t at) {
  if constexpr (kWidth<Vector> == 1) {
    return __bfloat162float(__ldg(rows + at));
  } else {
    const uint2 pairs = __ldg(reinterpret_cast<const uint2*>(rows) + at);
    return {LowHalf(pairs.x), HighHalf(pairs.x), LowHalf(pairs.y), HighHalf(pairs.y)};
  }
}

template <typename Vector>
__device__ void Store(float* rows, std::int64_t at, Vector value) {
  reinterpret_cast<Vector*>(rows)[at] = value;
}

__device__ inline unsigned Pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return __bfloat16_as_ushort(pair.x) | unsigned{__bfloat16_as_ushort(pair.y)} << 16;
}

// Rounds to nearest, ties to even.
__device__ inline void Store(__nv_bfloat16* rows, std::int64_t at, float value) {
  rows[at] = __float2bfloat16_rn(value);
}
__device__ inline void Store(__nv_bfloat16* rows, std::int64_t at, float4 value) {
  reinterpret_cast<uint2*>(rows)[at] = make_uint2(Pair(value.x, value.y), Pair(value.z, value.w));
}

// Whether results are rounded to so few bits that CUDA's intrinsics are as good as its functions.
template <typename Element>
inline constexpr bool kIsShort = std::is_same_v<Element, __nv_bfloat16>;

// e^x, to be stored as `Element`.
template <typename Element>
__device__ float Exponential(float x) {
  return kIsShort<Element> ? __expf(x) : expf(x);
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

// sum + factor x.
__device__ inline float4 AddScaled(float4 sum, float factor, float4 x) {
  return {fmaf(factor, x.x, sum.x), fmaf(factor, x.y, sum.y), fmaf(factor, x.z, sum.z),
          fmaf(factor, x.w, sum.w)};
}

__device__ inline float4 Scaled(float factor, float4 x) {
  return {factor * x.x, factor * x.y, factor * x.z, factor * x.w};
}

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_FLOAT_VECTOR_CUH_
