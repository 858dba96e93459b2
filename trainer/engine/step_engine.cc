#include "trainer/engine/step_engine.h"

#include <torch/types.h>

namespace packtrain::trainer {
namespace {

// Sum over the graphs of weight 1. What a model says of the others, a number or not, does not enter.
at::Tensor SumOfSquares(const at::Tensor& predicted, const GraphTensors& graphs) {
  const at::Tensor error = predicted - graphs.target;
  return at::where(graphs.weight > 0, error, at::zeros({}, error.options())).square().sum();
}

}  // namespace

StepEngine::StepEngine(Model& model, FlatParameters& parameters, Adam& adam, GradientSync& sync,
                       const Device& device)
    : model_(model), parameters_(parameters), adam_(adam), sync_(sync), device_(device) {}

absl::StatusOr<StepOutcome> StepEngine::Step(const GraphTensors& graphs, StepTimeline& timeline) {
  Differentiate(graphs, timeline);
  timeline.SetSums(device_.CopyToHost(parameters_.sums()));
  timeline.Mark(Moment::kComm);
  if (absl::Status status = sync_.SumOnDevice(parameters_.reduced()); !status.ok()) return status;
  if (AnyWithdrew()) return StepOutcome::kAbandoned;
  timeline.Mark(Moment::kOptimizer);
  parameters_.gradients().div_(parameters_.sums()[FlatParameters::kGraphs].clamp_min(1));
  adam_.Step(parameters_.gradients());
  timeline.End();
  return StepOutcome::kMade;
}

absl::Status StepEngine::Withdraw() {
  parameters_.ZeroGradients();
  parameters_.sums()[FlatParameters::kWithdrawals].fill_(1);
  return sync_.SumOnDevice(parameters_.reduced());
}

// A read from the device, and only where there are other ranks.
bool StepEngine::AnyWithdrew() const {
  return sync_.world().size > 1 && parameters_.sums()[FlatParameters::kWithdrawals].item<float>() > 0;
}

void StepEngine::Differentiate(const GraphTensors& graphs, StepTimeline& timeline) {
  timeline.Mark(Moment::kForward);
  parameters_.ZeroGradients();
  const at::Tensor sum = SumOfSquares(model_.Forward(graphs), graphs);
  timeline.Mark(Moment::kBackward);
  sum.backward();
  const at::NoGradGuard no_grad;
  parameters_.sums()[FlatParameters::kLoss].copy_(sum);
  parameters_.sums()[FlatParameters::kGraphs].copy_(graphs.weight.sum());
}

}  // namespace packtrain::trainer
