// Errors of a model over all graphs of a split.
#ifndef PACKTRAIN_TRAINER_RUN_EVALUATION_H_
#define PACKTRAIN_TRAINER_RUN_EVALUATION_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/batch_reader.h"
#include "client/dataset_info.h"
#include "proto/wire/batch_spec.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/target.h"
#include "trainer/engine/device.h"
#include "trainer/engine/shape_executor.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {

// In the target's unit, over the graphs that have it; NaN where none has.
struct SplitErrors {
  std::uint64_t graphs = 0;
  double mae = 0;
  double rmse = 0;
  double constant_mae = 0;  // of predicting the training split's mean
  double constant_rmse = 0;
};

// What to ask for to evaluate on `split`: the data set's order, each graph once, and one padded shape: that of
// the training run (`plan` is its plan) where it has one.
wire::BatchSpec EvaluationSpec(const wire::BatchSpec& training, const client::PlanInfo& plan,
                               const std::string& split);

// CANCELLED: what a rank ends with because of another one.
absl::Status AnotherRankCannotGoOn();

// Used by one thread. Keeps what was captured from one evaluation to the next.
class Evaluator {
 public:
  // All borrowed. INVALID_ARGUMENT: the device has no such engine.
  static absl::StatusOr<std::unique_ptr<Evaluator>> Create(Model& model, DeviceFeed& feed, const Device& device,
                                                           const EngineOptions& options);

  // Reads `batches` to their end, and calls `on_batch` with the header of each. All ranks call it, each with
  // its own part of the split; all get the same result. Where one cannot read on, it returns why and the others
  // AnotherRankCannotGoOn, all at the same place. ABORTED: a rank is gone.
  absl::StatusOr<SplitErrors> Evaluate(client::BatchReader& batches, const Target& target, GradientSync& sync,
                                       absl::FunctionRef<void(const wire::BatchHeader&)> on_batch);

  CaptureCounts captures() const { return executor_->counts(); }

 private:
  Evaluator(Model& model, DeviceFeed& feed, const Device& device);

  absl::Status AddErrors(client::BatchReader& batches,
                         absl::FunctionRef<void(const wire::BatchHeader&)> on_batch);

  Model& model_;
  DeviceFeed& feed_;
  const at::Tensor sums_;  // f64, on the device
  std::unique_ptr<ShapeExecutor> executor_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_EVALUATION_H_
