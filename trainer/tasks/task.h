// What a model is trained for: the loss of its outputs, and how good they are over a split.
//
//   const std::unique_ptr<Task> task = kSquaredError.create(targets, KernelForm::kPlain);
//   const Loss loss = task->LossOf(model.Forward(graphs), graphs);    // of one batch on one rank
//   sums += task->MetricSumsOf(model.Forward(graphs), graphs);        // over batches of a split, then ranks
//   const SplitMetrics metrics = task->MetricsOf(sums);               // each beside the constant answer's
#ifndef PACKTRAIN_TRAINER_TASKS_TASK_H_
#define PACKTRAIN_TRAINER_TASKS_TASK_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/graph_inputs.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/data/target.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// The loss of a step is the sum over all ranks divided by the number of terms on all ranks. Both are scalars of
// the outputs' device; padding and what has no label enter neither.
struct Loss {
  at::Tensor sum;    // differentiable
  at::Tensor terms;  // f32
};

struct Metric {
  std::string_view name;        // as in the results of a run: "mae"
  std::string_view label = {};  // as people write it: "MAE"
  double value = 0;
  double constant = 0;  // of the constant, or most frequent, answer
};

// Of one target, over the graphs of a split that have it; NaN where none has.
struct TargetMetrics {
  std::string name;
  std::string unit;
  std::uint64_t graphs = 0;
  std::vector<Metric> metrics = {};  // in the target's unit
};

// Over the graphs of a split that have a label; NaN where none has.
struct SplitMetrics {
  std::uint64_t graphs = 0;
  std::vector<Metric> metrics = {};
  std::vector<TargetMetrics> targets = {};  // of a task with targets, in their order

  // Null: the task has no such metric.
  const Metric* Find(std::string_view name) const;
};

// No state that changes: any thread may use it. Nothing here waits for the device but MetricsOf, and all else
// may be captured. What a model says of graphs without a label, a number or not, enters nothing.
class Task {
 public:
  virtual ~Task() = default;

  // What a model gives one output each for: kGraphs or kNodes.
  virtual Rows outputs() const = 0;

  // `outputs` are f32, or f64, [G, T] for T targets or [N], as a model gives them for `graphs`.
  virtual Loss LossOf(const at::Tensor& outputs, const GraphTensors& graphs) const = 0;

  // f64 [metric_sums()]; sums of several batches and ranks add up.
  virtual at::Tensor MetricSumsOf(const at::Tensor& outputs, const GraphTensors& graphs) const = 0;
  virtual std::int64_t metric_sums() const = 0;
  // `sums`, on the host, are of all graphs.
  virtual SplitMetrics MetricsOf(const at::Tensor& sums) const = 0;
};

// A kind of task, as a model names it.
struct TaskKind {
  InputSet labels;  // that the task reads beside the model's inputs
  // `targets` are those of a task with Input::kTargets among its labels.
  std::unique_ptr<Task> (*create)(const std::vector<Target>& targets, KernelForm kernels);
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_TASKS_TASK_H_
