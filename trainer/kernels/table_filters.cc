#include "trainer/kernels/table_filters.h"

#include <torch/types.h>

#include <array>

namespace packtrain::trainer {
namespace {

// Of the rows 0 to 3 in the value at `u` of the cubic through them.
std::array<at::Tensor, kCubicRows> CubicWeights(const at::Tensor& u) {
  const at::Tensor from1 = u - 1, from2 = u - 2, from3 = u - 3;
  return {from1 * from2 * from3 / -6, u * from2 * from3 / 2, u * from1 * from3 / -2, u * from1 * from2 / 6};
}

}  // namespace

at::Tensor TableDistances(const at::TensorOptions& options) {
  return (at::arange(kTableRows, options) / kTableRowsPerAngstrom).unsqueeze(1);
}

// NaN has no row, and gives NaN.
at::Tensor ReadTable(const at::Tensor& table, const at::Tensor& distances) {
  const at::Tensor place = distances.detach().to(table.scalar_type()) * kTableRowsPerAngstrom;
  const at::Tensor row = place.clamp(0, kTableRows - 1).nan_to_num_(0).to(at::kLong);
  const at::Tensor first = (row - 1).clamp_(0, kTableRows - kCubicRows);
  const at::Tensor behind = place > kTableRows - 1;
  const std::array<at::Tensor, kCubicRows> weights = CubicWeights(place - first);
  at::Tensor filters = at::zeros({distances.size(0), table.size(1)}, table.options());
  for (std::int64_t i = 0; i < kCubicRows; ++i) {
    const at::Tensor weight = weights[static_cast<std::size_t>(i)].masked_fill(behind, 0);
    filters = filters + table.index_select(0, (first + i).squeeze(1)) * weight;
  }
  return filters;
}

}  // namespace packtrain::trainer
