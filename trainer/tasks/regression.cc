#include "trainer/tasks/regression.h"

#include <torch/types.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "trainer/kernels/error_sum.h"

namespace packtrain::trainer {
namespace {

// Sums over the values of one target that are known, all normalised.
enum ErrorSum { kKnown, kAbsolute, kSquare, kConstantAbsolute, kConstantSquare, kErrorSums };
using ErrorSums = std::array<double, kErrorSums>;

// `scale` makes a normalised value one of the metrics' unit.
std::vector<Metric> MetricsFrom(const ErrorSums& sums, double scale) {
  const auto mean = [&](ErrorSum which) { return scale * sums[which] / sums[kKnown]; };
  const auto root = [&](ErrorSum which) { return scale * std::sqrt(sums[which] / sums[kKnown]); };
  return {{"mae", "MAE", mean(kAbsolute), mean(kConstantAbsolute)},
          {"rmse", "RMSE", root(kSquare), root(kConstantSquare)}};
}

// Sums of a split are the number of graphs with a label, then the ErrorSums of each target.
class Regression final : public Task {
 public:
  Regression(std::vector<Target> targets, ErrorKind error, KernelForm kernels)
      : targets_(std::move(targets)), error_(error), kernels_(kernels) {}

  Rows outputs() const override { return Rows::kGraphs; }

  Loss LossOf(const at::Tensor& outputs, const GraphTensors& graphs) const override {
    const SummedErrors errors = SumErrors(outputs, graphs.targets, graphs.weights, error_, kernels_);
    return {.sum = errors.sum, .terms = errors.terms};
  }

  at::Tensor MetricSumsOf(const at::Tensor& outputs, const GraphTensors& graphs) const override {
    const at::Tensor known = graphs.weights > 0;
    const at::Tensor targets = graphs.targets.to(at::kDouble);  // 0, the mean, where it is not known
    const at::Tensor difference = outputs.to(at::kDouble) - targets;
    const at::Tensor error = at::where(known, difference, at::zeros({}, difference.options()));
    const at::Tensor of_targets = at::stack({known.to(at::kDouble), error.abs(), error.square(),
                                             FromMedians(targets, known).abs(), targets.square()},
                                            2)
                                      .sum(0);  // [T, kErrorSums]
    return at::cat({known.any(1).sum().to(at::kDouble).view({1}), of_targets.view({-1})});
  }

  std::int64_t metric_sums() const override {
    return 1 + static_cast<std::int64_t>(targets_.size()) * kErrorSums;
  }

  SplitMetrics MetricsOf(const at::Tensor& sums) const override {
    const double* sum = sums.const_data_ptr<double>();
    SplitMetrics split = {.graphs = static_cast<std::uint64_t>(*sum++)};
    ErrorSums all = {};
    for (const Target& target : targets_) {
      ErrorSums own = {};
      for (std::size_t which = 0; which < kErrorSums; ++which) {
        own[which] = *sum++;
        all[which] += own[which];
      }
      split.targets.push_back({.name = target.name,
                               .unit = target.unit,
                               .graphs = static_cast<std::uint64_t>(own[kKnown]),
                               .metrics = MetricsFrom(own, target.scale)});
    }
    split.metrics = targets_.size() == 1 ? split.targets.front().metrics : MetricsFrom(all, /*scale=*/1);
    return split;
  }

 private:
  // What is left of [G, T] normalised values without the medians; 0 where they are not known. The medians are
  // arguments of kernels, not a tensor: this may be captured.
  at::Tensor FromMedians(const at::Tensor& values, const at::Tensor& known) const {
    const at::Tensor gaps = values.clone();
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      gaps.select(1, static_cast<std::int64_t>(i)).sub_(targets_[i].Normalise(targets_[i].median));
    }
    return gaps.mul_(known);
  }

  const std::vector<Target> targets_;
  const ErrorKind error_;
  const KernelForm kernels_;
};

}  // namespace

std::unique_ptr<Task> MakeSquaredErrorTask(const std::vector<Target>& targets, KernelForm kernels) {
  return std::make_unique<Regression>(targets, ErrorKind::kSquared, kernels);
}

std::unique_ptr<Task> MakeAbsoluteErrorTask(const std::vector<Target>& targets, KernelForm kernels) {
  return std::make_unique<Regression>(targets, ErrorKind::kAbsolute, kernels);
}

}  // namespace packtrain::trainer
