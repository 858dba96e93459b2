#include "trainer/engine/step_engine.h"

#include <torch/types.h>

#include <utility>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {

absl::StatusOr<std::unique_ptr<StepEngine>> StepEngine::Create(const StepParts& parts,
                                                               const EngineOptions& options) {
  std::unique_ptr<StepEngine> engine(new StepEngine(parts));
  ABSL_ASSIGN_OR_RETURN(
      engine->executor_,
      parts.device.NewExecutor(options, parts.inputs, [step = engine.get()](const GraphTensors& graphs) {
        return step->Issue(graphs);
      }));
  return engine;
}

StepEngine::StepEngine(const StepParts& parts)
    : parts_(parts), zero_(at::zeros({}, parts.parameters.values().options())), one_(at::ones_like(zero_)) {}

absl::StatusOr<std::uint64_t> StepEngine::Step(std::uint64_t steps) {
  parts_.adam.BeginStep(steps);
  return executor_->Run();
}

absl::Status StepEngine::Issue(const GraphTensors& graphs) {
  parts_.clock.Mark(Moment::kForward);
  const Loss loss = parts_.task.LossOf(parts_.model.Forward(graphs), graphs);
  parts_.clock.Mark(Moment::kBackward);
  parts_.parameters.Differentiate(loss.sum, one_, {loss.sum, loss.terms, zero_, parts_.adam.halted()});
  return ReduceAndUpdate();
}

absl::Status StepEngine::Withdraw() {
  parts_.clock.Mark(Moment::kForward);
  parts_.clock.Mark(Moment::kBackward);
  parts_.parameters.reduced().zero_();
  parts_.parameters.sums()[kWithdrawals].copy_(one_);
  return ReduceAndUpdate();
}

absl::Status StepEngine::ReduceAndUpdate() {
  const at::NoGradGuard no_grad;
  parts_.clock.Mark(Moment::kComm);
  ABSL_RETURN_IF_ERROR(parts_.sync.SumOnDevice(parts_.parameters.reduced()));
  parts_.clock.Mark(Moment::kOptimizer);
  parts_.adam.Step(parts_.parameters.reduced());
  parts_.clock.MarkEnd(parts_.parameters.sums());
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
