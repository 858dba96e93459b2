// One update of Adam (arXiv 1412.6980), and whether there is one.
#ifndef PACKTRAIN_TRAINER_ENGINE_ADAM_UPDATE_H_
#define PACKTRAIN_TRAINER_ENGINE_ADAM_UPDATE_H_

#include <ATen/core/Tensor.h>

#include "trainer/engine/step_sums.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// What an update reads and writes: contiguous, of one floating-point type (the fused form: f32), on one device,
// P parameters.
struct AdamTensors {
  at::Tensor parameters;  // [P]
  at::Tensor mean;        // [P], running, of the gradients
  at::Tensor square;      // [P], running, of their squares
  at::Tensor steps;       // scalar, updates made
  at::Tensor rate;        // scalar, learning rate
  at::Tensor halted;      // scalar, 1 once no update is made any more; until then 0
  at::Tensor scratch;     // i32 scalar, 0
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// Updates by `reduced`, [P + kStepSums]: the gradient's sum over all terms of the loss, and the sums of the
// step. It halts, and changes no parameter from then on, where a rank has withdrawn or halted or an element of
// `reduced` is not finite. Leaves the mean gradient, and in the last element whether it has halted.
void UpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced, KernelForm form);

// The fused form; see adam_update_fused.cc.
void FusedUpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_ADAM_UPDATE_H_
