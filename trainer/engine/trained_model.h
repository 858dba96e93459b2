// A model with all that its steps on a device need.
//
//   ABSL_ASSIGN_OR_RETURN(const ModelEntry entry, FindModel("schnet"));
//   ABSL_ASSIGN_OR_RETURN(auto trained, TrainedModel::Create(entry, options, device, sync));
//   trained->engine().Step(0);
#ifndef PACKTRAIN_TRAINER_ENGINE_TRAINED_MODEL_H_
#define PACKTRAIN_TRAINER_ENGINE_TRAINED_MODEL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/engine_options.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/step_clock.h"
#include "trainer/engine/step_engine.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/tasks/task.h"

namespace packtrain::trainer {

struct TrainedModelOptions {
  ModelOptions model = {};  // its kernels do not count: they are the device's, or the plain ones
  InputSet inputs = {};     // that a feed brings; those that the model's form requires need not be named
  std::vector<Target> targets = {};  // of a task that has some
  AdamOptions adam = {};
  EngineOptions engine = {};
  bool plain_kernels = false;  // Torch's operators, whatever the device has
};

// Used by one thread.
class TrainedModel {
 public:
  // `device` and `sync` are borrowed. INVALID_ARGUMENT: the device has no such engine.
  static absl::StatusOr<std::unique_ptr<TrainedModel>> Create(const ModelEntry& entry,
                                                              const TrainedModelOptions& options,
                                                              const Device& device, GradientSync& sync);

  Model& model() { return *model_; }
  const Task& task() const { return *task_; }
  // What a feed brings for the model and its task.
  const InputLayout& inputs() const { return inputs_; }
  FlatParameters& parameters() { return parameters_; }
  Adam& adam() { return adam_; }
  StepClock& clock() { return *clock_; }
  StepEngine& engine() { return *engine_; }

 private:
  TrainedModel(const ModelEntry& entry, const TrainedModelOptions& options, const Device& device);

  const std::shared_ptr<Model> model_;
  const std::unique_ptr<Task> task_;
  const InputLayout inputs_;
  FlatParameters parameters_;
  Adam adam_;
  const std::unique_ptr<StepClock> clock_;
  std::unique_ptr<StepEngine> engine_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_TRAINED_MODEL_H_
