// The launches of weight_gradients.cu: gradients of several weight matrices at once.
#ifndef PACKTRAIN_TRAINER_KERNELS_WEIGHT_GRADIENTS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_WEIGHT_GRADIENTS_CUH_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace packtrain::trainer {

// What the rows that were multiplied by the weights are made of.
enum class FactorKind : std::int32_t {
  kValues,     // `values`
  kSoftplus,   // the shifted softplus of `values`
  kGaussians,  // exp(-(row * step - column * spacing)^2 / width)
  kOneHot      // 1 in column ones[row], else 0
};

// X [rows, columns].
struct Factor {
  FactorKind kind = FactorKind::kValues;
  const float* values = nullptr;  // at a multiple of 16, with `columns` of them whole vectors
  const std::int32_t* ones = nullptr;
  int columns = 0;
  float step = 0, spacing = 0, width = 0;
};

// gradient [columns, d_columns] = X^T D, where D [rows, d_columns], at a multiple of 16, is the gradient of X
// times the weights; d_columns are at most kProductColumns.
struct WeightGradient {
  Factor factor = {};
  const float* d = nullptr;
  float* gradient = nullptr;
  int rows = 0;
  int d_columns = 0;
  int first_column = 0;  // of X, of this tile
};

inline constexpr int kProductColumns = 64;
inline constexpr int kProductSplits = 16;
inline constexpr int kMaxProducts = 56;

// Tiles of products that are made together. `Add` makes several of a wide X.
struct WeightGradients {
  int tiles = 0;
  WeightGradient tile[kMaxProducts] = {};

  void Add(WeightGradient gradient) {
    for (; gradient.first_column < gradient.factor.columns; gradient.first_column += kProductColumns)
      tile[tiles++] = gradient;
  }
};

constexpr std::int64_t ProductPartSizeOf(int tiles) {
  return std::int64_t{kProductSplits} * tiles * kProductColumns * kProductColumns;
}

// `parts`: scratch for ProductPartSizeOf(tiles). The order of additions follows from the sizes alone.
cudaError_t EnqueueWeightGradients(const WeightGradients& gradients, float* parts, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_WEIGHT_GRADIENTS_CUH_
