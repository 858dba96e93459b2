// How good a model is over all graphs of a split.
#ifndef PACKTRAIN_TRAINER_RUN_EVALUATION_H_
#define PACKTRAIN_TRAINER_RUN_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "client/dataset_info.h"
#include "proto/wire/batch_spec.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/graph_inputs.h"
#include "trainer/engine/device.h"
#include "trainer/engine/shape_executor.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/tasks/split_score.h"
#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// What to ask for to evaluate on `split`: the data set's order, each graph once, also where the training is on
// a slice, and one padded shape: that of the training run (`plan` is its plan) where it has one. Supergraphs
// keep their blocks; their edge slots are those of the split.
wire::BatchSpec EvaluationSpec(const wire::BatchSpec& training, const client::PlanInfo& plan,
                               const std::string& split);

// What an evaluation works with. All borrowed.
struct EvaluatorParts {
  Model& model;
  const Task& task;
  const InputLayout& inputs;  // of the model and the task
  DeviceFeed& feed;
  const Device& device;
};

// Used by one thread. Keeps what was captured from one evaluation to the next.
class Evaluator {
 public:
  // INVALID_ARGUMENT: the device has no such engine.
  static absl::StatusOr<std::unique_ptr<Evaluator>> Create(const EvaluatorParts& parts,
                                                           const EngineOptions& options);

  // Reads `batches` to their end, and calls `on_batch` with the header of each. All ranks call it, each with
  // its own part of the split; all get the same result. Where one cannot read on, it returns why and the others
  // AnotherRankCannotGoOn, all at the same place. ABORTED: a rank is gone.
  absl::StatusOr<SplitMetrics> Evaluate(client::BatchReader& batches, GradientSync& sync,
                                        absl::FunctionRef<void(const wire::BatchHeader&)> on_batch);

  CaptureCounts captures() const { return executor_->counts(); }

 private:
  explicit Evaluator(const EvaluatorParts& parts);

  absl::Status AddBatches(client::BatchReader& batches,
                          absl::FunctionRef<void(const wire::BatchHeader&)> on_batch);

  const EvaluatorParts parts_;
  SplitScore score_;
  std::unique_ptr<ShapeExecutor> executor_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_EVALUATION_H_
