#include "trainer/models/parameter_maker.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace packtrain::trainer {
namespace {

// Torch allows no dots.
std::string Registered(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

ParameterMaker::ParameterMaker(torch::nn::Module& module, std::uint32_t seed)
    : module_(module), generator_(at::detail::createCPUGenerator(seed)) {}

at::Tensor ParameterMaker::Matrix(std::string name, std::int64_t rows, std::int64_t columns) {
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  at::Tensor matrix = at::empty({rows, columns}, at::kFloat).uniform_(-bound, bound, generator_);
  return module_.register_parameter(Registered(std::move(name)), std::move(matrix));
}

at::Tensor ParameterMaker::Bias(std::string name, std::int64_t size) {
  return module_.register_parameter(Registered(std::move(name)), at::zeros({size}, at::kFloat));
}

}  // namespace packtrain::trainer
