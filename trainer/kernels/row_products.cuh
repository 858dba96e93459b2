// Products of rows of 64 numbers, one after another within a block: the rows and the matrices lie in shared
// memory. For CUDA sources.
//
// A block has kRowThreads threads: 16 across the columns of a row, of which each holds a vector of four, then
// the slices that share a row's sums, then the rows. With R rows a block there are 16 / R slices.
#ifndef PACKTRAIN_TRAINER_KERNELS_ROW_PRODUCTS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_ROW_PRODUCTS_CUH_

#include <cuda_pipeline_primitives.h>

#include "trainer/kernels/float_vector.cuh"

namespace packtrain::trainer {

inline constexpr int kRowColumns = 64;
inline constexpr int kRowVectors = kRowColumns / kWidth<float4>;
inline constexpr int kRowThreads = 256;
inline constexpr int kRowSlices = kRowThreads / kRowVectors;  // of a block with one row

// In shared memory, with room behind each row, so that columns lie in different banks.
struct Matrix {
  float4 rows[kRowColumns][kRowVectors + 1];
};

using Row = float4[kRowVectors];

__device__ inline int ThreadOfBlock() {
  return static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}

template <int kRows>
dim3 ThreadsOfRows() {
  return dim3(kRowVectors, kRowSlices / kRows, kRows);
}

// All threads of a block call these; what is copied is there after WaitForCopies and a barrier. `from` is
// [kRowColumns, columns] at a multiple of 16, `columns` of them whole vectors; other columns are 0.
__device__ inline void CopyMatrix(Matrix& to, const float* from, int columns) {
  for (int i = ThreadOfBlock(); i < kRowColumns * kRowVectors; i += kRowThreads) {
    const int row = i / kRowVectors, vector = i % kRowVectors;
    if (vector * kWidth<float4> < columns) {
      __pipeline_memcpy_async(&to.rows[row][vector], from + row * columns + vector * kWidth<float4>,
                              sizeof(float4));
    } else {
      to.rows[row][vector] = {};
    }
  }
}

__device__ inline void WaitForCopies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

// A row for each slice of each row.
__device__ inline float4* SliceSums() {
  __shared__ float4 sums[kRowThreads];
  return sums;
}

// For the threads of slice 0 the sum of SliceSums over the slices. A barrier: all threads of a block call it,
// and what they have read before may be overwritten behind it by slice 0.
__device__ inline float4 SumOfSlices() {
  const float4* sums = SliceSums() + ThreadOfBlock();
  __syncthreads();
  float4 sum = sums[0];
  if (threadIdx.y > 0) return sum;
  for (unsigned slice = 1; slice < blockDim.y; ++slice) sum = Map(Sum(), sum, sums[slice * kRowVectors]);
  return sum;
}

__device__ inline float4 AddSlices(float4 sum) {
  SliceSums()[ThreadOfBlock()] = sum;
  return SumOfSlices();
}

// The vectors of a row that a slice multiplies.
struct Quads {
  int first;
  int end;
};

__device__ inline Quads QuadsOfSlice() {
  const int quads = kRowVectors / static_cast<int>(blockDim.y), first = static_cast<int>(threadIdx.y) * quads;
  return {first, first + quads};
}

// A row times a matrix: for the threads of slice 0 their columns of it. A barrier as SumOfSlices.
__device__ inline float4 Multiply(const Row& row, const Matrix& matrix) {
  const Quads quads = QuadsOfSlice();
  float4 sum = {};
#pragma unroll 4
  for (int quad = quads.first; quad < quads.end; ++quad) {
    const float4 x = row[quad];
    const int from = quad * kWidth<float4>;
    sum = AddScaled(sum, x.x, matrix.rows[from][threadIdx.x]);
    sum = AddScaled(sum, x.y, matrix.rows[from + 1][threadIdx.x]);
    sum = AddScaled(sum, x.z, matrix.rows[from + 2][threadIdx.x]);
    sum = AddScaled(sum, x.w, matrix.rows[from + 3][threadIdx.x]);
  }
  return AddSlices(sum);
}

// The same of the transposed matrix. A thread multiplies rows of the matrix that lie apart, so that those of
// neighbouring threads lie in different banks.
__device__ inline float4 MultiplyTransposed(const Row& row, const Matrix& matrix) {
  constexpr int kOfThread = kRowColumns / kRowVectors;
  const Quads quads = QuadsOfSlice();
  float sums[kOfThread] = {};
#pragma unroll 4
  for (int quad = quads.first; quad < quads.end; ++quad) {
    const float4 x = row[quad];
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const float4 y = matrix.rows[threadIdx.x + i * kRowVectors][quad];
      sums[i] = fmaf(x.x, y.x, fmaf(x.y, y.y, fmaf(x.z, y.z, fmaf(x.w, y.w, sums[i]))));
    }
  }
  auto* of_slice = reinterpret_cast<float*>(SliceSums() + ThreadOfBlock() - threadIdx.x);
#pragma unroll
  for (int i = 0; i < kOfThread; ++i) of_slice[threadIdx.x + i * kRowVectors] = sums[i];
  return SumOfSlices();
}

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_ROW_PRODUCTS_CUH_
