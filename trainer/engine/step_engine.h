// One training step.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/gradient_sync.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {

enum class StepOutcome { kMade, kAbandoned };

// The loss is the mean squared error over all graphs of a step that have the target, on whichever rank they
// are: each rank adds up its own, and sums and numbers are reduced apart. Used by one thread.
class StepEngine {
 public:
  // All borrowed; `parameters` and `adam` are those of `model`.
  StepEngine(Model& model, FlatParameters& parameters, Adam& adam, GradientSync& sync, const Device& device);

  // Forward, backward, all-reduce, optimiser. Marks its phases on `timeline`, in which a step has begun.
  // Abandoned where another rank has withdrawn: the model is as before on every rank, and the step has not
  // ended. ABORTED: another rank is gone.
  absl::StatusOr<StepOutcome> Step(const GraphTensors& graphs, StepTimeline& timeline);

  // What a rank that cannot go on does in place of Step: the others abandon theirs. Codes as Step.
  absl::Status Withdraw();

  // Leaves the gradient of this rank's sum of squared errors, the sum itself and its number of graphs in
  // `parameters`.
  void Differentiate(const GraphTensors& graphs, StepTimeline& timeline);

 private:
  bool AnyWithdrew() const;

  Model& model_;
  FlatParameters& parameters_;
  Adam& adam_;
  GradientSync& sync_;
  const Device& device_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_
