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

// Used by one thread.
class Adam {
 public:
  // Updates `parameters`, one flat tensor, in place.
  Adam(at::Tensor parameters, AdamOptions options);

  // One step along `gradients`, of the parameters' shape.
  void Step(const at::Tensor& gradients);

  // Running means of the gradients and of their squares, of the parameters' shape.
  const at::Tensor& mean() const { return mean_; }
  const at::Tensor& square() const { return square_; }
  // Goes on as an Adam that has made `steps` steps and had these means.
  void Restore(const at::Tensor& mean, const at::Tensor& square, std::uint64_t steps);

  // Of the next step.
  double learning_rate() const;

 private:
  const AdamOptions options_;
  at::Tensor parameters_;
  at::Tensor mean_;
  at::Tensor square_;
  at::Tensor device_steps_;  // f32 scalar; the steps begun, as the fused kernel reads them
  std::uint64_t steps_ = 0;  // the same on the host, for the staircase
};

// Such as "adam lr=0.0001 decay=0.96/100000".
std::string Describe(const AdamOptions& options);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_ADAM_H_
