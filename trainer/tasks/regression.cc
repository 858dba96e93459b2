#include "trainer/tasks/regression.h"

#include <torch/types.h>

#include <cmath>
#include <utility>

namespace packtrain::trainer {
namespace {

enum class Distance { kSquared, kAbsolute };

// Sums of a metric, all of normalised targets.
enum ErrorSum { kKnown, kAbsolute, kSquare, kConstantAbsolute, kConstantSquare, kErrorSums };

class Regression final : public Task {
 public:
  Regression(Target target, Distance distance) : target_(std::move(target)), distance_(distance) {}

  Rows outputs() const override { return Rows::kGraphs; }

  Loss LossOf(const at::Tensor& outputs, const GraphTensors& graphs) const override {
    const at::Tensor known = at::where(graphs.weight > 0, outputs, graphs.target);
    const at::Tensor sum = distance_ == Distance::kSquared
                               ? at::mse_loss(known, graphs.target, at::Reduction::Sum)
                               : at::l1_loss(known, graphs.target, at::Reduction::Sum);
    return {.sum = sum, .terms = graphs.weight.sum()};
  }

  at::Tensor MetricSumsOf(const at::Tensor& outputs, const GraphTensors& graphs) const override {
    const at::Tensor known = graphs.weight > 0;
    const at::Tensor target = graphs.target.to(at::kDouble);  // 0, the mean, where it is not known
    const at::Tensor difference = outputs.to(at::kDouble) - target;
    const at::Tensor error = at::where(known, difference, at::zeros({}, difference.options()));
    return at::stack({known.sum().to(at::kDouble), error.abs().sum(), error.square().sum(), target.abs().sum(),
                      target.square().sum()});
  }

  std::int64_t metric_sums() const override { return kErrorSums; }

  SplitMetrics MetricsOf(const at::Tensor& sums) const override {
    const double* sum = sums.const_data_ptr<double>();
    const auto mean = [&](ErrorSum which) { return target_.scale * sum[which] / sum[kKnown]; };
    const auto root = [&](ErrorSum which) { return target_.scale * std::sqrt(sum[which] / sum[kKnown]); };
    return {.graphs = static_cast<std::uint64_t>(sum[kKnown]),
            .metrics = {{"mae", "MAE", mean(kAbsolute), mean(kConstantAbsolute)},
                        {"rmse", "RMSE", root(kSquare), root(kConstantSquare)}}};
  }

 private:
  const Target target_;
  const Distance distance_;
};

}  // namespace

std::unique_ptr<Task> MakeSquaredErrorTask(const Target& target) {
  return std::make_unique<Regression>(target, Distance::kSquared);
}

std::unique_ptr<Task> MakeAbsoluteErrorTask(const Target& target) {
  return std::make_unique<Regression>(target, Distance::kAbsolute);
}

}  // namespace packtrain::trainer
