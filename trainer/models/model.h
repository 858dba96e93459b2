// What the engine knows of a model, and the list of the models there are.
#ifndef PACKTRAIN_TRAINER_MODELS_MODEL_H_
#define PACKTRAIN_TRAINER_MODELS_MODEL_H_

#include <c10/core/ScalarType.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernels.h"

namespace packtrain::trainer {

// A model of one number a graph. Used by one thread.
class Model : public torch::nn::Module {
 public:
  // f32 [G], one normalised prediction for each graph slot; those of padding slots are finite and mean
  // nothing.
  virtual at::Tensor Forward(const GraphTensors& graphs) = 0;
};

struct ModelOptions {
  std::int64_t classes = 0;                  // rows of the embedding
  std::uint32_t seed = 0;                    // equal seeds give equal parameters
  const Kernels* kernels = &PlainKernels();  // borrowed, never null
  // Of edge-sized data and the factors of its products. bf16: all else, parameters and sums too, is f32.
  at::ScalarType edge_type = at::kFloat;
};

// A model's name on the command line, how it is made, and what its paper trains it with.
struct ModelEntry {
  std::string_view name;
  std::shared_ptr<Model> (*create)(const ModelOptions& options);
  double decay;  // of the learning rate, every 100,000 steps
};

std::span<const ModelEntry> Models();

// NOT_FOUND names the models there are.
absl::StatusOr<ModelEntry> FindModel(std::string_view name);

// Elements of all trainable parameters.
std::int64_t CountParameters(const Model& model);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_MODEL_H_
