// Regression on a graph: a number for each target. Metrics: mae beside that of the training split's median,
// rmse beside that of its mean, which are the constant answers that are best in each. Those of one target are
// in its unit. Those of several targets together are of normalised values, that is in standard deviations of
// the training split, over all values that are known.
#ifndef PACKTRAIN_TRAINER_TASKS_REGRESSION_H_
#define PACKTRAIN_TRAINER_TASKS_REGRESSION_H_

#include <memory>
#include <vector>

#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// Models predict the normalised targets, of which there is at least one. The loss is the squared or the
// absolute difference, of each value that is known.
std::unique_ptr<Task> MakeSquaredErrorTask(const std::vector<Target>& targets, KernelForm kernels);
std::unique_ptr<Task> MakeAbsoluteErrorTask(const std::vector<Target>& targets, KernelForm kernels);

inline constexpr TaskKind kSquaredError = {.labels = {Input::kTargets}, .create = MakeSquaredErrorTask};
inline constexpr TaskKind kAbsoluteError = {.labels = {Input::kTargets}, .create = MakeAbsoluteErrorTask};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_TASKS_REGRESSION_H_
