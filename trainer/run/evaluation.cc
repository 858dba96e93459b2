#include "trainer/run/evaluation.h"

#include <torch/types.h>

#include <cmath>
#include <optional>
#include <utility>

#include "proto/base/status_macros.h"
#include "trainer/engine/status_words.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kErrorSums = 5;

// f64 [kErrorSums]: graphs, and sums of |error|, error^2, |target|, target^2, all normalised. What a model says
// of graphs without weight, a number or not, does not enter.
at::Tensor SumErrors(const at::Tensor& predicted, const GraphTensors& graphs) {
  const at::Tensor known = graphs.weight > 0;
  const at::Tensor target = graphs.target.to(at::kDouble);  // 0 where it is not known
  const at::Tensor difference = predicted.to(at::kDouble) - target;
  const at::Tensor error = at::where(known, difference, at::zeros({}, difference.options()));
  return at::stack({known.sum().to(at::kDouble), error.abs().sum(), error.square().sum(), target.abs().sum(),
                    target.square().sum()});
}

SplitErrors Unnormalise(const at::Tensor& sums, double scale) {
  const double* sum = sums.const_data_ptr<double>();
  return {.graphs = static_cast<std::uint64_t>(sum[0]),
          .mae = scale * sum[1] / sum[0],
          .rmse = scale * std::sqrt(sum[2] / sum[0]),
          .constant_mae = scale * sum[3] / sum[0],
          .constant_rmse = scale * std::sqrt(sum[4] / sum[0])};
}

}  // namespace

wire::BatchSpec EvaluationSpec(const wire::BatchSpec& training, const client::PlanInfo& plan,
                               const std::string& split) {
  wire::BatchSpec spec = {.policy = wire::Policy::kDynamic,
                          .graphs = training.graphs,
                          .max_graphs = training.max_graphs,
                          .nodes = training.nodes,
                          .edges = training.edges,
                          .order = wire::Order::kNone,
                          .seed = training.seed,
                          .split = split,
                          .oversize = wire::Oversize::kAlone};
  if (plan.budget.nodes > 0) {
    spec.max_graphs = plan.budget.graphs;
    spec.nodes = plan.budget.nodes;
    spec.edges = plan.budget.edges;
  }
  return spec;
}

absl::Status AnotherRankCannotGoOn() { return absl::CancelledError("another rank cannot go on"); }

absl::StatusOr<std::unique_ptr<Evaluator>> Evaluator::Create(Model& model, DeviceFeed& feed,
                                                             const Device& device,
                                                             const EngineOptions& options) {
  std::unique_ptr<Evaluator> evaluator(new Evaluator(model, feed, device));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ShapeExecutor> executor,
                        device.NewExecutor(options, [self = evaluator.get()](const GraphTensors& graphs) {
                          self->sums_.add_(SumErrors(self->model_.Forward(graphs), graphs));
                          return absl::OkStatus();
                        }));
  evaluator->executor_ = std::move(executor);
  return evaluator;
}

Evaluator::Evaluator(Model& model, DeviceFeed& feed, const Device& device)
    : model_(model),
      feed_(feed),
      sums_(at::zeros({kErrorSums}, at::TensorOptions(at::kDouble).device(device.torch_device()))) {}

absl::StatusOr<SplitErrors> Evaluator::Evaluate(client::BatchReader& batches, const Target& target,
                                                GradientSync& sync,
                                                absl::FunctionRef<void(const wire::BatchHeader&)> on_batch) {
  const at::NoGradGuard no_grad;
  sums_.zero_();
  const absl::Status read = AddErrors(batches, on_batch);
  const at::Tensor sums = at::cat({sums_.cpu(), at::full({1}, read.ok() ? 0 : 1, at::kDouble)});
  if (absl::Status status = sync.Sum(sums); !status.ok()) return read.ok() ? status : WithReason(status, read);
  ABSL_RETURN_IF_ERROR(read);
  if (sums[kErrorSums].item<double>() > 0) return AnotherRankCannotGoOn();
  return Unnormalise(sums, target.scale);
}

absl::Status Evaluator::AddErrors(client::BatchReader& batches,
                                  absl::FunctionRef<void(const wire::BatchHeader&)> on_batch) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<wire::Batch> batch, batches.Next());
    if (!batch.has_value()) return absl::OkStatus();
    on_batch(batch->header());
    if (batch->header().empty) continue;
    const GraphTensors& graphs = executor_->InputsFor(batch->header().padded);
    ABSL_RETURN_IF_ERROR(feed_.Expand(*batch, graphs));
    if (const absl::StatusOr<std::uint64_t> run = executor_->Run(); !run.ok()) return run.status();
  }
}

}  // namespace packtrain::trainer
