#include "trainer/engine/evaluation.h"

#include <torch/types.h>

#include <cmath>
#include <optional>

#include "trainer/engine/status_words.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kErrorSums = 5;

// f64 [kErrorSums]: graphs, and sums of |error|, error^2, |target|, target^2, all normalised.
at::Tensor SumErrors(const at::Tensor& predicted, const GraphTensors& graphs) {
  const at::Tensor known = graphs.weight > 0;
  const at::Tensor target = graphs.target.masked_select(known).to(at::kDouble);
  const at::Tensor error = predicted.masked_select(known).to(at::kDouble) - target;
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

// Adds the errors over all of `batches` to `sums`.
absl::Status AddErrors(Model& model, client::BatchReader& batches, DeviceFeed& feed, at::Tensor sums) {
  const at::Device device = model.parameters().front().device();
  while (true) {
    const absl::StatusOr<std::optional<wire::Batch>> batch = batches.Next();
    if (!batch.ok()) return batch.status();
    if (!batch->has_value()) return absl::OkStatus();
    if ((*batch)->header().empty) continue;
    const GraphTensors graphs = NewGraphTensors((*batch)->header().padded, device);
    if (absl::Status status = feed.Expand(**batch, graphs); !status.ok()) return status;
    sums += SumErrors(model.Forward(graphs), graphs).cpu();
  }
}

}  // namespace

client::BatchSpec EvaluationSpec(const client::BatchSpec& training, const client::PlanInfo& plan,
                                 const std::string& split) {
  client::BatchSpec spec = training;
  spec.split = split;
  spec.order = "none";
  spec.oversize = "alone";
  spec.drop_last = false;
  spec.budget_sample.reset();
  if (plan.budget.nodes > 0) {
    spec.max_graphs = plan.budget.graphs;
    spec.nodes = plan.budget.nodes;
    spec.edges = plan.budget.edges;
  }
  return spec;
}

absl::Status AnotherRankCannotGoOn() { return absl::CancelledError("another rank cannot go on"); }

absl::StatusOr<SplitErrors> Evaluate(Model& model, client::BatchReader& batches, DeviceFeed& feed,
                                     const Target& target, GradientSync& sync) {
  const at::InferenceMode inference;
  const at::Tensor sums = at::zeros({kErrorSums + 1}, at::kDouble);
  const absl::Status read = AddErrors(model, batches, feed, sums.narrow(0, 0, kErrorSums));
  sums[kErrorSums].fill_(read.ok() ? 0 : 1);
  if (absl::Status status = sync.Sum(sums); !status.ok()) return read.ok() ? status : WithReason(status, read);
  if (!read.ok()) return read;
  if (sums[kErrorSums].item<double>() > 0) return AnotherRankCannotGoOn();
  return Unnormalise(sums, target.scale);
}

}  // namespace packtrain::trainer
