#include "trainer/engine/adam.h"

#include <torch/types.h>

#include <cmath>

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {

Adam::Adam(const at::Tensor& parameters, const AdamOptions& options, KernelForm kernels)
    : options_(options),
      kernels_(kernels),
      tensors_{.parameters = parameters,
               .mean = at::zeros_like(parameters),
               .square = at::zeros_like(parameters),
               .steps = at::zeros({}, parameters.options()),
               .rate = at::zeros({}, parameters.options()),
               .halted = at::zeros({}, parameters.options()),
               .scratch = at::zeros({}, parameters.options().dtype(at::kInt)),
               .beta1 = options.beta1,
               .beta2 = options.beta2,
               .epsilon = options.epsilon} {}

void Adam::BeginStep(std::uint64_t steps) {
  const double rate = LearningRate(steps);
  if (rate == rate_) return;
  const at::NoGradGuard no_grad;
  tensors_.rate.fill_(rate);
  rate_ = rate;
}

void Adam::Restore(const at::Tensor& mean, const at::Tensor& square, std::uint64_t steps) {
  const at::NoGradGuard no_grad;
  tensors_.mean.copy_(mean);
  tensors_.square.copy_(square);
  // Exact up to 2^24 steps, where beta^steps has long been 0.
  tensors_.steps.fill_(static_cast<double>(steps));
}

double Adam::LearningRate(std::uint64_t steps) const {
  return options_.learning_rate * std::pow(options_.decay, static_cast<double>(steps / options_.decay_steps));
}

std::string DescribeSchedule(const AdamOptions& options) {
  return absl::StrCat("staircase ", options.decay, " every ", options.decay_steps);
}

std::string Describe(const AdamOptions& options) {
  return absl::StrCat("adam lr=", options.learning_rate, " decay=", options.decay, "/", options.decay_steps);
}

}  // namespace packtrain::trainer
