// One training step.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_

#include "absl/status/status.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/gradient_sync.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {

// The loss is the mean squared error over all graphs of a step that have the target, on whichever rank they
// are: each rank adds up its own, and sums and numbers are reduced apart. Used by one thread.
class StepEngine {
 public:
  // All borrowed; `parameters` and `adam` are those of `model`.
  StepEngine(Model& model, FlatParameters& parameters, Adam& adam, GradientSync& sync, const Device& device);

  // Forward, backward, all-reduce, optimiser. Marks its phases on `timeline`, in which a step has begun.
  // ABORTED: another rank is gone.
  absl::Status Step(const GraphTensors& graphs, StepTimeline& timeline);

  // Leaves the gradient of this rank's sum of squared errors, the sum itself and its number of graphs in
  // `parameters`.
  void Differentiate(const GraphTensors& graphs, StepTimeline& timeline);

 private:
  Model& model_;
  FlatParameters& parameters_;
  Adam& adam_;
  GradientSync& sync_;
  const Device& device_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_
