// What the engine knows of a model, and the table of the models there are.
//
// A model is one file and one row of the table. The file declares what the model reads, what it is trained for
// and its layers; schnet.h has the declaration of one:
//
//   inline constexpr ModelForm kSchNetForms[] = {{.readout = "mean",
//                                                 .inputs = {Input::kAtomicNumbers, Input::kPositions},
//                                                 .optional = {Input::kCells},
//                                                 .task = kSquaredError}};
//   inline constexpr ModelEntry kSchNet = {.name = "schnet",
//                                          .forms = kSchNetForms,
//                                          .hidden = 64,
//                                          .layers = 3,
//                                          .filters = kSchNetFilters,
//                                          .create = CreateSchNet,
//                                          .decay = 0.96};
#ifndef PACKTRAIN_TRAINER_MODELS_MODEL_H_
#define PACKTRAIN_TRAINER_MODELS_MODEL_H_

#include <c10/core/ScalarType.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/graph_inputs.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"
#include "trainer/models/model_flags.h"
#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// Used by one thread.
class Model : public torch::nn::Module {
 public:
  // f32 or f64, as the model's task says: a normalised prediction for each graph slot and target, [G, T], or a
  // score for each node slot, [N]. Those of padding slots mean nothing.
  virtual at::Tensor Forward(const GraphTensors& graphs) = 0;

  // Of a model that reads filters off tables, as its parameters are: the greatest difference from a direct
  // filter half way between two rows, over the greatest direct filter of its layer. Waits for the device.
  virtual std::optional<double> FilterError() { return std::nullopt; }
};

struct ModelOptions {
  InputSizes sizes = {};                         // of the inputs that the model declares
  std::vector<std::int32_t> token_classes = {};  // TokenClasses::of_token, for a model that reads tokens
  std::string_view readout = {};                 // of one of the model's forms; empty: its first
  std::string_view adjacency = {};               // of ModelEntry::adjacencies; empty: the first
  std::string_view filter = {};                  // of ModelEntry::filters; empty: the first
  std::int64_t hidden = 0;                       // 0: ModelEntry::hidden
  std::int64_t layers = 0;                       // 0: ModelEntry::layers
  std::uint32_t seed = 0;                        // equal seeds give equal parameters
  KernelForm kernels = KernelForm::kPlain;
  // Of edge-sized data and the factors of its products. bf16: all else, parameters and sums too, is f32. f64:
  // so is all else (f64_model.h).
  at::ScalarType edge_type = at::kFloat;
};

// How a model makes an answer of its nodes, and what it then reads and is trained for.
struct ModelForm {
  std::string_view readout;  // as --readout names it
  InputSet inputs;
  InputSet optional = {};  // read as well where the data set has them
  TaskKind task;

  // All that a feed brings for a training: the inputs and the labels.
  constexpr InputSet AllInputs() const { return inputs | task.labels; }
};

// A model's name on the command line, its forms, its sizes, how it is made, and what its paper trains it with.
struct ModelEntry {
  std::string_view name;
  std::span<const ModelForm> forms;  // at least one, each with a readout of its own
  std::int64_t hidden;               // width of a node's state
  std::int64_t layers;
  // How sums over neighbours may be made, as --adjacency names it, with the usual one first; none where there
  // is nothing to choose.
  std::span<const std::string_view> adjacencies = {};
  // How filters of distances may be made, as --filter names it, likewise.
  std::span<const std::string_view> filters = {};
  std::shared_ptr<Model> (*create)(const ModelOptions& options);
  double decay;  // of the learning rate, every 100,000 steps

  // Empty: the first form. Null: the model has no such form.
  const ModelForm* FindForm(std::string_view readout) const;
};

std::span<const ModelEntry> Models();

// NOT_FOUND names the models there are.
absl::StatusOr<ModelEntry> FindModel(std::string_view name);

// INVALID_ARGUMENT names a flag that the model does not have, or not with this value.
absl::Status CheckFlags(const ModelFlags& flags, const ModelEntry& entry);

// The forms that `flags`, which have been checked, leave: of what the data set has, the first is to be taken.
std::vector<ModelForm> FormsFor(const ModelFlags& flags, const ModelEntry& entry);

// `options` with what `entry` says where they say nothing.
ModelOptions Completed(ModelOptions options, const ModelEntry& entry);

// What tells a model from the usual one of its name, by the flags without dashes: sizes that are not the usual
// ones, where a model has several, readout and adjacency, and a filter that is not the usual one. Beside them
// what follows from the data set.
std::map<std::string, std::string> DescribeChoices(const ModelEntry& entry, const ModelOptions& options);

// Elements of all trainable parameters.
std::int64_t CountParameters(const Model& model);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_MODEL_H_
