#include "trainer/engine/adam.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {

Adam::Adam(at::Tensor parameters, AdamOptions options)
    : options_(options),
      parameters_(std::move(parameters)),
      mean_(at::zeros_like(parameters_)),
      square_(at::zeros_like(parameters_)),
      device_steps_(at::zeros({}, parameters_.options())),
      device_rate_(at::zeros({}, parameters_.options())) {}

void Adam::BeginStep(std::uint64_t steps) {
  const double rate = LearningRate(steps);
  if (rate == rate_) return;
  const at::NoGradGuard no_grad;
  device_rate_.fill_(rate);
  rate_ = rate;
}

void Adam::Step(const at::Tensor& gradients, const at::Tensor& divisor, const at::Tensor& skip) {
  const at::NoGradGuard no_grad;
  device_steps_.add_(1).sub_(skip);  // the kernel divides by 1 - beta^steps
  at::_fused_adam_({parameters_}, {gradients}, {mean_}, {square_}, /*max_exp_avg_sqs=*/{}, {device_steps_},
                   device_rate_, options_.beta1, options_.beta2, /*weight_decay=*/0, options_.epsilon,
                   /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/divisor, /*found_inf=*/skip);
}

void Adam::Restore(const at::Tensor& mean, const at::Tensor& square, std::uint64_t steps) {
  const at::NoGradGuard no_grad;
  mean_.copy_(mean);
  square_.copy_(square);
  // Exact up to 2^24 steps, where beta^steps has long been 0.
  device_steps_.fill_(static_cast<double>(steps));
}

double Adam::LearningRate(std::uint64_t steps) const {
  return options_.learning_rate * std::pow(options_.decay, static_cast<double>(steps / options_.decay_steps));
}

std::string Describe(const AdamOptions& options) {
  return absl::StrCat("adam lr=", options.learning_rate, " decay=", options.decay, "/", options.decay_steps);
}

}  // namespace packtrain::trainer
