// A model with all that its steps on a device need.
#ifndef PACKTRAIN_TRAINER_ENGINE_TRAINED_MODEL_H_
#define PACKTRAIN_TRAINER_ENGINE_TRAINED_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/engine_options.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/step_clock.h"
#include "trainer/engine/step_engine.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {

struct TrainedModelOptions {
  ModelOptions model = {};  // its kernels do not count: they are the device's, or the plain ones
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
  FlatParameters& parameters() { return parameters_; }
  Adam& adam() { return adam_; }
  StepClock& clock() { return *clock_; }
  StepEngine& engine() { return *engine_; }

 private:
  TrainedModel(const ModelEntry& entry, const TrainedModelOptions& options, const Device& device);

  const std::shared_ptr<Model> model_;
  FlatParameters parameters_;
  Adam adam_;
  const std::unique_ptr<StepClock> clock_;
  std::unique_ptr<StepEngine> engine_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_TRAINED_MODEL_H_
