#include "trainer/kernels/weight_gradients.cuh"

#include "trainer/kernels/early_launch.cuh"
#include "trainer/kernels/float_vector.cuh"
#include "trainer/kernels/gaussian_of_gap.cuh"
#include "trainer/kernels/softplus_of_float.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = kProductColumns / 4;
constexpr int kTileRows =
    kThreads / kVectors;  // that a block holds at once: each thread loads a vector of each
constexpr int kPart = kProductColumns * kProductColumns;

static_assert(sizeof(WeightGradients) <= 4096);  // of a kernel's arguments

__device__ float FactorAt(const Factor& factor, int row, int column) {
  if (column >= factor.columns) return 0;
  if (factor.kind == FactorKind::kOneHot) return __ldg(factor.ones + row) == column ? 1.0f : 0.0f;
  const float gap = static_cast<float>(row) * factor.step - static_cast<float>(column) * factor.spacing;
  return GaussianOf(gap, factor.width);
}

// Columns [column, column + 4) of a row of X.
__device__ float4 LoadFactor(const Factor& factor, int row, int column) {
  if (factor.kind == FactorKind::kGaussians || factor.kind == FactorKind::kOneHot) {
    return {FactorAt(factor, row, column), FactorAt(factor, row, column + 1), FactorAt(factor, row, column + 2),
            FactorAt(factor, row, column + 3)};
  }
  if (column >= factor.columns) return {};
  const float4 values = Load<float4>(factor.values + std::int64_t{row} * factor.columns + column, 0);
  return factor.kind == FactorKind::kSoftplus ? Map(SoftplusValue<float>(), values) : values;
}

__device__ float4 LoadGradient(const WeightGradient& product, int row, int column) {
  const float* d = product.d + std::int64_t{row} * product.d_columns;
  if (product.d_columns % 4 == 0) return column < product.d_columns ? Load<float4>(d + column, 0) : float4{};
  const auto at = [&](int i) { return column + i < product.d_columns ? __ldg(d + column + i) : 0.0f; };
  return {at(0), at(1), at(2), at(3)};
}

struct Pair {
  float4 factor;
  float4 d;
};

// What a thread of a block loads for the rows from `first` on.
__device__ Pair LoadPair(const WeightGradient& product, int first, int end) {
  const int row = first + static_cast<int>(threadIdx.y), column = static_cast<int>(threadIdx.x) * 4;
  if (row >= end) return {};
  return {LoadFactor(product.factor, row, product.first_column + column), LoadGradient(product, row, column)};
}

__device__ void AddProducts(float4 x, float4 d, float4 (&sums)[4]) {
  const float of[] = {x.x, x.y, x.z, x.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) sums[i] = AddScaled(sums[i], of[i], d);
}

// A block makes the part of one tile that one split of the rows gives; a thread four by four elements of it.
__global__ void __launch_bounds__(kThreads)
    MakeParts(const __grid_constant__ WeightGradients gradients, float* parts) {
  __shared__ float4 factors[kTileRows][kVectors], ds[kTileRows][kVectors];
  LetNextBegin();
  const WeightGradient& product = gradients.tile[blockIdx.y];
  const auto split = static_cast<int>(blockIdx.x);
  const int length = (product.rows + kProductSplits - 1) / kProductSplits;
  const int begin = split * length, end = min(begin + length, product.rows);
  float4 sums[4] = {};
  Pair next = LoadPair(product, begin, end);
  for (int first = begin; first < end; first += kTileRows) {
    factors[threadIdx.y][threadIdx.x] = next.factor;
    ds[threadIdx.y][threadIdx.x] = next.d;
    __syncthreads();
    next = LoadPair(product, first + kTileRows, end);
#pragma unroll
    for (int row = 0; row < kTileRows; ++row)
      AddProducts(factors[row][threadIdx.y], ds[row][threadIdx.x], sums);
    __syncthreads();
  }
  float* part = parts + (std::int64_t{split} * gradients.tiles + blockIdx.y) * kPart;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) Store(part, (4 * threadIdx.y + i) * kVectors + threadIdx.x, sums[i]);
}

__global__ void __launch_bounds__(kThreads)
    AddParts(const __grid_constant__ WeightGradients gradients, const float* parts) {
  const WeightGradient& product = gradients.tile[blockIdx.y];
  const auto i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const int row = product.first_column + i / kProductColumns, column = i % kProductColumns;
  if (row >= product.factor.columns || column >= product.d_columns) return;
  WaitForEarlier();
  float sum = 0;
#pragma unroll
  for (int split = 0; split < kProductSplits; ++split) {
    sum += __ldg(parts + (std::int64_t{split} * gradients.tiles + blockIdx.y) * kPart + i);
  }
  product.gradient[std::int64_t{row} * product.d_columns + column] = sum;
}

}  // namespace

cudaError_t EnqueueWeightGradients(const WeightGradients& gradients, float* parts, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>(gradients.tiles);
  MakeParts<<<dim3(kProductSplits, tiles), dim3(kVectors, kTileRows), 0, stream>>>(gradients, parts);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  return LaunchEarly(AddParts, dim3(kPart / kThreads, tiles), kThreads, 0, stream, gradients,
                     static_cast<const float*>(parts));
}

}  // namespace packtrain::trainer
