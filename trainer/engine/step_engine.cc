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

absl::Status StepEngine::Step(const GraphTensors& graphs, StepTimeline& timeline) {
  Differentiate(graphs, timeline);
  timeline.SetSums(device_.CopyToHost(parameters_.sums()));
  timeline.Mark(Moment::kComm);
  if (absl::Status status = sync_.Sum(parameters_.reduced()); !status.ok()) return status;
  timeline.Mark(Moment::kOptimizer);
  parameters_.gradients().div_(parameters_.sums()[1].clamp_min(1));
  adam_.Step(parameters_.gradients());
  timeline.End();
  return absl::OkStatus();
}

void StepEngine::Differentiate(const GraphTensors& graphs, StepTimeline& timeline) {
  timeline.Mark(Moment::kForward);
  parameters_.ZeroGradients();
  const at::Tensor sum = SumOfSquares(model_.Forward(graphs), graphs);
  timeline.Mark(Moment::kBackward);
  sum.backward();
  const at::NoGradGuard no_grad;
  parameters_.sums()[0].copy_(sum);
  parameters_.sums()[1].copy_(graphs.weight.sum());
}

}  // namespace packtrain::trainer
