// Batches as if input cost nothing, to find what it costs.
#ifndef PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_
#define PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "trainer/data/training_batches.h"

namespace packtrain::trainer {

// The first batches of another source, up to the end of their epoch but at most kMaxBatches, again and again
// from the memory of the training device. Each round counts as an epoch.
class SyntheticBatches final : public TrainingBatches {
 public:
  static constexpr std::size_t kMaxBatches = 64;

  SyntheticBatches(std::unique_ptr<TrainingBatches> source, const InputLayout& layout, at::Device device);

  // The first call reads all that is kept, and ends the source.
  absl::Status Next() override;
  const wire::BatchHeader& header() const override { return AtHand().header; }
  const wire::BatchTiming& timing() const override { return timing_; }
  absl::Status Expand(const GraphTensors& out) override;
  void Cancel() override { source_->Cancel(); }

 private:
  struct Kept {
    wire::BatchHeader header;  // its epoch that of the round
    GraphTensors tensors;
  };

  absl::Status Keep();
  absl::Status KeepNext();
  const Kept& AtHand() const { return kept_[turn_]; }

  const std::unique_ptr<TrainingBatches> source_;
  const InputLayout layout_;
  const at::Device device_;
  const wire::BatchTiming timing_{};  // no server builds what is served here
  std::vector<Kept> kept_;
  std::size_t turn_ = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_
