#include "trainer/engine/adam.h"

#include <torch/types.h>

#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {
namespace {

double WarmUpFactor(const AdamOptions& options, std::uint64_t steps) {
  if (steps >= options.warmup_steps) return 1;
  return static_cast<double>(steps + 1) / static_cast<double>(options.warmup_steps);
}

// 1 at the end of the warm-up; 0 at `steps` and beyond.
double CosineFactor(const AdamOptions& options, std::uint64_t steps) {
  if (steps < options.warmup_steps) return 1;
  if (steps >= options.steps) return 0;
  const double share = static_cast<double>(steps - options.warmup_steps) /
                       static_cast<double>(options.steps - options.warmup_steps);
  return 0.5 * (1 + std::cos(std::numbers::pi * share));
}

double ScheduleFactor(const AdamOptions& options, std::uint64_t steps) {
  switch (options.schedule) {
    case RateSchedule::kStaircase:
      return std::pow(options.decay, static_cast<double>(steps / options.decay_steps));
    case RateSchedule::kCosine:
      return CosineFactor(options, steps);
    case RateSchedule::kConstant:
      return 1;
  }
  return 1;
}

}  // namespace

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
  return options_.learning_rate * WarmUpFactor(options_, steps) * ScheduleFactor(options_, steps);
}

std::string DescribeSchedule(const AdamOptions& options) {
  const std::string warm_up =
      options.warmup_steps == 0 ? "" : absl::StrCat("warm-up of ", options.warmup_steps, " steps, then ");
  switch (options.schedule) {
    case RateSchedule::kStaircase:
      return absl::StrCat(warm_up, "staircase ", options.decay, " every ", options.decay_steps);
    case RateSchedule::kCosine:
      return absl::StrCat(warm_up, "cosine to 0 at step ", options.steps);
    case RateSchedule::kConstant:
      return warm_up + "constant";
  }
  return "";
}

std::string Describe(const AdamOptions& options) {
  const std::string rate = absl::StrCat("adam lr=", options.learning_rate);
  if (options.schedule != RateSchedule::kStaircase) return rate;
  return absl::StrCat(rate, " decay=", options.decay, "/", options.decay_steps);
}

}  // namespace packtrain::trainer
