#include "trainer/models/parameter_maker.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace packtrain::trainer {

ParameterMaker::ParameterMaker(torch::nn::Module& module, std::uint32_t seed)
    : module_(module), generator_(at::detail::createCPUGenerator(seed)) {}

at::Tensor ParameterMaker::Matrix(std::string name, std::int64_t rows, std::int64_t columns) {
  std::replace(name.begin(), name.end(), '.', '_');
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  at::Tensor matrix = at::empty({rows, columns}, at::kFloat).uniform_(-bound, bound, generator_);
  return module_.register_parameter(std::move(name), std::move(matrix));
}

}  // namespace packtrain::trainer
