// ln(1 + e^x) - ln 2, an activation.
#ifndef PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_H_
#define PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_H_

#include <ATen/core/Tensor.h>

#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// Of each element of `x`, f32 or bf16, of whose type the result and the gradient are; bf16 is computed in f32
// and rounded once.
at::Tensor ShiftedSoftplus(const at::Tensor& x, KernelForm form);

// The fused form with its gradient; see shifted_softplus_fused.cc.
at::Tensor FusedShiftedSoftplus(const at::Tensor& x);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_SHIFTED_SOFTPLUS_H_
