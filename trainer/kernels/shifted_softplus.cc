#include "trainer/kernels/shifted_softplus.h"

#include <torch/types.h>

#include <numbers>

namespace packtrain::trainer {

at::Tensor ShiftedSoftplus(const at::Tensor& x, KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused) return FusedShiftedSoftplus(x);
  }
  const at::Tensor wide = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
  return at::softplus(wide).sub_(std::numbers::ln2).to(x.scalar_type());
}

}  // namespace packtrain::trainer
