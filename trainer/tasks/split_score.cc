#include "trainer/tasks/split_score.h"

#include <torch/types.h>

#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {

SplitScore::SplitScore(const Task& task, at::Device device)
    : task_(task), sums_(at::zeros({task.metric_sums()}, at::TensorOptions(at::kDouble).device(device))) {}

absl::StatusOr<SplitMetrics> SplitScore::SumOverRanks(const absl::Status& own, GradientSync& sync) const {
  const at::Tensor sums = at::cat({sums_.cpu(), at::full({1}, own.ok() ? 0 : 1, at::kDouble)});
  if (const absl::Status status = sync.Sum(sums); !status.ok())
    return own.ok() ? status : WithReason(status, own);
  if (!own.ok()) return own;
  if (sums[task_.metric_sums()].item<double>() > 0) return AnotherRankCannotGoOn();
  return task_.MetricsOf(sums);
}

}  // namespace packtrain::trainer
