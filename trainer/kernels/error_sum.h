// What a regression's loss is made of.
#ifndef PACKTRAIN_TRAINER_KERNELS_ERROR_SUM_H_
#define PACKTRAIN_TRAINER_KERNELS_ERROR_SUM_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

enum class ErrorKind : std::uint8_t { kSquared, kAbsolute };

// Scalars of the outputs' device.
struct SummedErrors {
  at::Tensor sum;    // of the outputs' type, with a gradient for them
  at::Tensor terms;  // the sum of the weights, of their type
};

// The squared, or absolute, differences between `outputs` and `targets` [G, T], added up where `weights` are
// above 0. What the outputs are elsewhere, a number or not, enters nothing, and their gradient there is 0.
// Outputs are f32, and f64 in the plain form.
SummedErrors SumErrors(const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& weights,
                       ErrorKind kind, KernelForm form);

// The fused form with its gradient, in two launches; see error_sum_fused.cc.
SummedErrors FusedSumErrors(const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& weights,
                            ErrorKind kind);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_ERROR_SUM_H_
