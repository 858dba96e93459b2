// Adam (arXiv 1412.6980) with a schedule of the learning rate.
#ifndef PACKTRAIN_TRAINER_ENGINE_ADAM_H_
#define PACKTRAIN_TRAINER_ENGINE_ADAM_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "trainer/engine/adam_update.h"
#include "trainer/engine/rate_schedule.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

struct AdamOptions {
  double learning_rate = 1e-4;
  RateSchedule schedule = RateSchedule::kStaircase;
  double decay = 0.96;  // factor of a staircase, after each `decay_steps`
  std::uint64_t decay_steps = 100'000;
  std::uint64_t warmup_steps = 0;  // step s of these, from 1 on, has s / warmup_steps of the rate
  std::uint64_t steps = 0;         // of the whole training, more than `warmup_steps`: of a cosine
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// The learning rate and the number of steps made lie on the device, so a captured Step stays right. Used by one
// thread.
class Adam {
 public:
  // Updates `parameters`, one flat tensor, in place.
  Adam(const at::Tensor& parameters, const AdamOptions& options, KernelForm kernels = KernelForm::kPlain);

  // Sets the learning rate of the step that comes after `steps` others. Before each Step, and not captured.
  void BeginStep(std::uint64_t steps);
  // One step, or none, as UpdateByAdam says. May be captured.
  void Step(const at::Tensor& reduced) { UpdateByAdam(tensors_, reduced, kernels_); }
  // f32 or f64 scalar, 1 once no step is made any more.
  const at::Tensor& halted() const { return tensors_.halted; }

  // Running means of the gradients and of their squares, of the parameters' shape.
  const at::Tensor& mean() const { return tensors_.mean; }
  const at::Tensor& square() const { return tensors_.square; }
  // Goes on as an Adam that has made `steps` steps and had these means.
  void Restore(const at::Tensor& mean, const at::Tensor& square, std::uint64_t steps);

  // Of the step after `steps` others.
  double LearningRate(std::uint64_t steps) const;

 private:
  const AdamOptions options_;
  const KernelForm kernels_;
  const AdamTensors tensors_;
  double rate_ = 0;  // that on the device
};

// Such as "staircase 0.96 every 100000", "cosine to 0 at step 5000" or "constant"; with a warm-up such as
// "warm-up of 100 steps, then constant".
std::string DescribeSchedule(const AdamOptions& options);
// Such as "adam lr=0.0001 decay=0.96/100000"; without a staircase "adam lr=0.0001".
std::string Describe(const AdamOptions& options);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_ADAM_H_
