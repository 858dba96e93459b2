#include "trainer/kernels/error_sum.h"

#include <torch/types.h>

namespace packtrain::trainer {

SummedErrors SumErrors(const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& weights,
                       ErrorKind kind, KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused) return FusedSumErrors(outputs, targets, weights, kind);
  }
  const at::Tensor expected = targets.to(outputs.scalar_type());
  const at::Tensor known = at::where(weights > 0, outputs, expected);
  const at::Tensor sum = kind == ErrorKind::kSquared ? at::mse_loss(known, expected, at::Reduction::Sum)
                                                     : at::l1_loss(known, expected, at::Reduction::Sum);
  return {.sum = sum, .terms = weights.sum()};
}

}  // namespace packtrain::trainer
