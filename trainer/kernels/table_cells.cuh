// Where a distance lies in a table. For CUDA sources.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_CELLS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_CELLS_CUH_

#include "trainer/kernels/table_edges.cuh"

namespace packtrain::trainer {

// Beyond the last row a filter is 0; that of NaN is NaN.
__device__ inline bool IsBehindTable(float place) { return place > kTableRows - 1; }

__device__ inline int CellOf(float place) { return min(max(static_cast<int>(place) - 1, 0), kTableCells - 1); }

// Of the rows of the cell in the value at `place`.
struct CubicWeights {
  float of[kCubicRows];
};

__device__ inline CubicWeights WeightsAt(float place, int cell) {
  if (IsBehindTable(place)) return {};
  const float u = place - static_cast<float>(cell), from1 = u - 1, from2 = u - 2, from3 = u - 3;
  return {{from1 * from2 * from3 * (-1.0f / 6), u * from2 * from3 * 0.5f, u * from1 * from3 * -0.5f,
           u * from1 * from2 * (1.0f / 6)}};
}

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_CELLS_CUH_
