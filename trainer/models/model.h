// What the engine knows of a model, and the table of the models there are.
//
// A model is one file and one row of the table. The file declares what the model reads, what it is trained for
// and its layers; schnet.h has the declaration of one:
//
//   inline constexpr ModelEntry kSchNet = {.name = "schnet",
//                                          .inputs = {Input::kAtomicNumbers, Input::kPositions},
//                                          .task = kSquaredError,
//                                          .create = CreateSchNet,
//                                          .decay = 0.96};
#ifndef PACKTRAIN_TRAINER_MODELS_MODEL_H_
#define PACKTRAIN_TRAINER_MODELS_MODEL_H_

#include <c10/core/ScalarType.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer/data/graph_inputs.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"
#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// Used by one thread.
class Model : public torch::nn::Module {
 public:
  // f32, one output for each graph or node slot, as the model's task says: a normalised prediction or a score.
  // Those of padding slots mean nothing.
  virtual at::Tensor Forward(const GraphTensors& graphs) = 0;
};

struct ModelOptions {
  InputSizes sizes = {};   // of the inputs that the model declares
  std::uint32_t seed = 0;  // equal seeds give equal parameters
  KernelForm kernels = KernelForm::kPlain;
  // Of edge-sized data and the factors of its products. bf16: all else, parameters and sums too, is f32.
  at::ScalarType edge_type = at::kFloat;
};

// A model's name on the command line, what it reads and is trained for, how it is made, and what its paper
// trains it with.
struct ModelEntry {
  std::string_view name;
  InputSet inputs;
  TaskKind task;
  std::shared_ptr<Model> (*create)(const ModelOptions& options);
  double decay;  // of the learning rate, every 100,000 steps

  // All that a feed brings for a training: the inputs and the labels.
  constexpr InputSet AllInputs() const { return inputs | task.labels; }
};

std::span<const ModelEntry> Models();

// NOT_FOUND names the models there are.
absl::StatusOr<ModelEntry> FindModel(std::string_view name);

// Elements of all trainable parameters.
std::int64_t CountParameters(const Model& model);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_MODEL_H_
