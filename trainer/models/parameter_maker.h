// Makes and registers the parameters of a model, in a fixed order from a seed.
#ifndef PACKTRAIN_TRAINER_MODELS_PARAMETER_MAKER_H_
#define PACKTRAIN_TRAINER_MODELS_PARAMETER_MAKER_H_

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <string>

namespace packtrain::trainer {

// Equal seeds and equal calls give equal parameters, on any machine. Used by one thread.
class ParameterMaker {
 public:
  // `module` is borrowed.
  ParameterMaker(torch::nn::Module& module, std::uint32_t seed);

  // A trainable f32 [rows, columns], Xavier uniform, registered as `name` (its dots become underscores, as
  // Torch allows none).
  at::Tensor Matrix(std::string name, std::int64_t rows, std::int64_t columns);

  // The same of `size` zeros.
  at::Tensor Bias(std::string name, std::int64_t size);

 private:
  torch::nn::Module& module_;
  at::Generator generator_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_PARAMETER_MAKER_H_
