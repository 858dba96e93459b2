// Adam (arXiv 1412.6980) with a staircase decay of the learning rate.
#ifndef PACKTRAIN_TRAINER_ENGINE_ADAM_H_
#define PACKTRAIN_TRAINER_ENGINE_ADAM_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace packtrain::trainer {

struct AdamOptions {
  double learning_rate = 1e-4;
  double decay = 0.96;  // factor after each `decay_steps`
  std::uint64_t decay_steps = 100'000;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// The learning rate and the number of steps made lie on the device, so a captured Step stays right. Used by one
// thread.
class Adam {
 public:
  // Updates `parameters`, one flat tensor, in place.
  Adam(at::Tensor parameters, AdamOptions options);

  // Sets the learning rate of the step that comes behind `steps` others. Before each Step, and not captured.
  void BeginStep(std::uint64_t steps);
  // One step along gradients / divisor, of the parameters' shape and f32 scalar; leaves the quotient in
  // `gradients`. Where `skip`, an f32 scalar, is 1, nothing changes; otherwise it is 0. May be captured.
  void Step(const at::Tensor& gradients, const at::Tensor& divisor, const at::Tensor& skip);

  // Running means of the gradients and of their squares, of the parameters' shape.
  const at::Tensor& mean() const { return mean_; }
  const at::Tensor& square() const { return square_; }
  // Goes on as an Adam that has made `steps` steps and had these means.
  void Restore(const at::Tensor& mean, const at::Tensor& square, std::uint64_t steps);

  // Of the step behind `steps` others.
  double LearningRate(std::uint64_t steps) const;

 private:
  const AdamOptions options_;
  at::Tensor parameters_;
  at::Tensor mean_;
  at::Tensor square_;
  at::Tensor device_steps_;  // f32 scalar: steps begun, as the fused kernel reads them
  at::Tensor device_rate_;   // f32 scalar
  double rate_ = 0;          // what device_rate_ was set to
};

// Such as "adam lr=0.0001 decay=0.96/100000".
std::string Describe(const AdamOptions& options);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_ADAM_H_
