// Issues its work operation by operation, each time anew.
#ifndef PACKTRAIN_TRAINER_ENGINE_EAGER_EXECUTOR_H_
#define PACKTRAIN_TRAINER_ENGINE_EAGER_EXECUTOR_H_

#include <utility>

#include "trainer/engine/shape_executor.h"

namespace packtrain::trainer {

class EagerExecutor final : public ShapeExecutor {
 public:
  EagerExecutor(at::Device device, Work work) : device_(device), work_(std::move(work)) {}

  const GraphTensors& InputsFor(const wire::Shape& padded) override {
    inputs_ = NewGraphTensors(padded, device_);
    return inputs_;
  }
  absl::StatusOr<std::uint64_t> Run() override {
    if (absl::Status status = work_(inputs_); !status.ok()) return status;
    return 0;
  }
  CaptureCounts counts() const override { return {}; }

 private:
  const at::Device device_;
  const Work work_;
  GraphTensors inputs_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_EAGER_EXECUTOR_H_
