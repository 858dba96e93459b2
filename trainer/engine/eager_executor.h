// Issues its work operation by operation, each time again.
#ifndef PACKTRAIN_TRAINER_ENGINE_EAGER_EXECUTOR_H_
#define PACKTRAIN_TRAINER_ENGINE_EAGER_EXECUTOR_H_

#include <optional>
#include <utility>

#include "proto/base/status_macros.h"
#include "trainer/engine/shape_executor.h"

namespace packtrain::trainer {

class EagerExecutor final : public ShapeExecutor {
 public:
  EagerExecutor(at::Device device, const InputLayout& layout, Work work)
      : device_(device), layout_(layout), work_(std::move(work)) {}

  const GraphTensors& InputsFor(const wire::Shape& padded) override {
    if (shape_ != padded) inputs_ = NewGraphTensors(padded, layout_, device_);
    shape_ = padded;
    return inputs_;
  }
  void ReadInPlace(const GraphTensors& inputs) override {
    inputs_ = inputs;
    shape_.reset();
  }
  absl::StatusOr<std::uint64_t> Run() override {
    ABSL_RETURN_IF_ERROR(work_(inputs_));
    return 0;
  }
  CaptureCounts counts() const override { return {}; }

 private:
  const at::Device device_;
  const InputLayout layout_;
  const Work work_;
  std::optional<wire::Shape> shape_;
  GraphTensors
      inputs_;  // of shape_: a shape that comes again keeps its tensors; else those that Run reads in place
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_EAGER_EXECUTOR_H_
