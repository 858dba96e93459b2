#include "trainer/run/evaluation.h"

#include <torch/types.h>

#include <optional>
#include <utility>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {

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
  if (training.policy == wire::Policy::kSupergraph) {
    spec.policy = training.policy;
    spec.blocks = training.blocks;
    spec.block_nodes = training.block_nodes;
    return spec;
  }
  if (plan.budget.nodes > 0) {
    spec.max_graphs = plan.budget.graphs;
    spec.nodes = plan.budget.nodes;
    spec.edges = plan.budget.edges;
  }
  return spec;
}

absl::StatusOr<std::unique_ptr<Evaluator>> Evaluator::Create(const EvaluatorParts& parts,
                                                             const EngineOptions& options) {
  std::unique_ptr<Evaluator> evaluator(new Evaluator(parts));
  ABSL_ASSIGN_OR_RETURN(
      evaluator->executor_,
      parts.device.NewExecutor(options, parts.inputs, [self = evaluator.get()](const GraphTensors& graphs) {
        self->score_.Add(self->parts_.model.Forward(graphs), graphs);
        return absl::OkStatus();
      }));
  return evaluator;
}

Evaluator::Evaluator(const EvaluatorParts& parts)
    : parts_(parts), score_(parts.task, parts.device.torch_device()) {}

absl::StatusOr<SplitMetrics> Evaluator::Evaluate(client::BatchReader& batches, GradientSync& sync,
                                                 absl::FunctionRef<void(const wire::BatchHeader&)> on_batch) {
  const at::NoGradGuard no_grad;
  score_.Clear();
  return score_.SumOverRanks(AddBatches(batches, on_batch), sync);
}

absl::Status Evaluator::AddBatches(client::BatchReader& batches,
                                   absl::FunctionRef<void(const wire::BatchHeader&)> on_batch) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<wire::Batch> batch, batches.Next());
    if (!batch.has_value()) return absl::OkStatus();
    on_batch(batch->header());
    if (batch->header().empty) continue;
    const GraphTensors& graphs = executor_->InputsFor(batch->header().padded);
    ABSL_RETURN_IF_ERROR(parts_.feed.Expand(*batch, graphs));
    if (const absl::StatusOr<std::uint64_t> run = executor_->Run(); !run.ok()) return run.status();
  }
}

}  // namespace packtrain::trainer
