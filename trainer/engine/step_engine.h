// One training step.
//
//   const GraphTensors& inputs = engine.InputsFor(batch.header().padded);
//   ABSL_RETURN_IF_ERROR(feed.Expand(batch, inputs));
//   ABSL_ASSIGN_OR_RETURN(const std::uint64_t capture_ns, engine.Step(steps));  // does not wait for the device
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/shape_executor.h"
#include "trainer/engine/step_clock.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// What a step works on. All borrowed; `parameters` and `adam` are those of `model`, and `clock` is the
// device's.
struct StepParts {
  Model& model;
  const Task& task;
  const InputLayout& inputs;  // of the model and the task
  FlatParameters& parameters;
  Adam& adam;
  GradientSync& sync;
  const Device& device;
  StepClock& clock;
};

// The loss is the mean over all terms of a step, on whichever rank they are: each rank adds up its own, and
// sums and numbers are reduced apart.
//
// Nothing here waits for the device, so what became of a step is known only by its reading. A step in which a
// rank withdraws, or in which the loss or the gradient is no finite number, changes nothing on any rank, and
// neither does any step after it: its sum kHalted is above 0. Used by one thread.
class StepEngine {
 public:
  // INVALID_ARGUMENT: the device has no such engine.
  static absl::StatusOr<std::unique_ptr<StepEngine>> Create(const StepParts& parts,
                                                            const EngineOptions& options);

  // Tensors for the next Step, of shape `padded`.
  const GraphTensors& InputsFor(const wire::Shape& padded) { return executor_->InputsFor(padded); }
  // Has the next Step read `inputs` themselves, as ShapeExecutor::ReadInPlace does.
  void ReadInPlace(const GraphTensors& inputs) { executor_->ReadInPlace(inputs); }

  // Issues forward, backward, all-reduce and optimiser after `steps` others, in a step that has begun on the
  // clock. Returns the nanoseconds that went into a capture. ABORTED: another rank is gone.
  absl::StatusOr<std::uint64_t> Step(std::uint64_t steps);

  // What a rank that cannot go on does in place of Step. Codes as Step.
  absl::Status Withdraw();

  CaptureCounts captures() const { return executor_->counts(); }

 private:
  explicit StepEngine(const StepParts& parts);

  absl::Status Issue(const GraphTensors& graphs);
  absl::Status ReduceAndUpdate();

  const StepParts parts_;
  const at::Tensor zero_, one_;  // f32 or f64 scalars
  std::unique_ptr<ShapeExecutor> executor_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_ENGINE_H_
