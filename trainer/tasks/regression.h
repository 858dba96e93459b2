// Regression on a graph: one number for each, beside the training split's mean as the constant answer. Metrics:
// mae and rmse, in the target's unit.
#ifndef PACKTRAIN_TRAINER_TASKS_REGRESSION_H_
#define PACKTRAIN_TRAINER_TASKS_REGRESSION_H_

#include <memory>

#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// Models predict the normalised target. The loss is the squared or the absolute difference.
std::unique_ptr<Task> MakeSquaredErrorTask(const Target& target);
std::unique_ptr<Task> MakeAbsoluteErrorTask(const Target& target);

inline constexpr TaskKind kSquaredError = {.labels = {Input::kTarget}, .create = MakeSquaredErrorTask};
inline constexpr TaskKind kAbsoluteError = {.labels = {Input::kTarget}, .create = MakeAbsoluteErrorTask};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_TASKS_REGRESSION_H_
