#include "trainer/kernels/gaussians.h"

#include <torch/types.h>

namespace packtrain::trainer {

// Below e^-80 is far below f32's resolution of the sums that a Gaussian enters, and exp is slow where its
// result is no normal number.
at::Tensor Gaussians(const at::Tensor& distances, const at::Tensor& centres, const GaussianOptions& options) {
  if constexpr (kHasFusedForms) {
    if (options.form == KernelForm::kFused) return FusedGaussians(distances, centres, options);
  }
  return (distances - centres).square_().mul_(-1 / options.width).clamp_min_(-80).exp_().to(options.type);
}

}  // namespace packtrain::trainer
