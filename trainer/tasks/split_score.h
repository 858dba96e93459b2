// A task's metrics over a split: sums over its batches on each rank, then over the ranks.
#ifndef PACKTRAIN_TRAINER_TASKS_SPLIT_SCORE_H_
#define PACKTRAIN_TRAINER_TASKS_SPLIT_SCORE_H_

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// Used by one thread.
class SplitScore {
 public:
  // `task` is borrowed. The sums lie on `device`.
  SplitScore(const Task& task, at::Device device);

  // Begins another split.
  void Clear() { sums_.zero_(); }

  // Adds one batch; may be captured.
  void Add(const at::Tensor& outputs, const GraphTensors& graphs) {
    sums_.add_(task_.MetricSumsOf(outputs, graphs));
  }

  // All ranks call it, each when it has added its own part of the split, and all get the same result. `own`
  // says whether this rank has added all of it: where one has not, it returns its `own` and the others
  // AnotherRankCannotGoOn. ABORTED: a rank is gone.
  absl::StatusOr<SplitMetrics> SumOverRanks(const absl::Status& own, GradientSync& sync) const;

 private:
  const Task& task_;
  const at::Tensor sums_;  // f64
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_TASKS_SPLIT_SCORE_H_
