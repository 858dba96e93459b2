// Gaussians of distances.
#ifndef PACKTRAIN_TRAINER_KERNELS_GAUSSIANS_H_
#define PACKTRAIN_TRAINER_KERNELS_GAUSSIANS_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

struct GaussianOptions {
  double width = 1;                  // square of a length
  at::ScalarType type = at::kFloat;  // of the result: computed in f32 and rounded once, if at all
  KernelForm form = KernelForm::kPlain;
};

// [E, K], exp(-(d - c)^2 / width) of each distance d of [E, 1] and centre c of [K]; what is below e^-80 is held
// there. No gradient.
at::Tensor Gaussians(const at::Tensor& distances, const at::Tensor& centres, const GaussianOptions& options);

// The fused form; see gaussians_fused.cc.
at::Tensor FusedGaussians(const at::Tensor& distances, const at::Tensor& centres,
                          const GaussianOptions& options);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_GAUSSIANS_H_
