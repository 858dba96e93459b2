// Batches as if input cost nothing, to find what it costs.
#ifndef PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_
#define PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/data/training_batches.h"

namespace packtrain::trainer {

// As many batches as another source has up to the end of its epoch, but at most `max_batches`, again and again;
// each round counts as an epoch. Each lies in tensors of its own on the training device, where a step reads it:
// nothing is copied, and no feed can be faster.
class SyntheticBatches final : public TrainingBatches {
 public:
  static constexpr std::size_t kMaxBatches = 64;

  // max_batches >= 1.
  SyntheticBatches(std::unique_ptr<TrainingBatches> source, const InputLayout& layout, at::Device device,
                   std::size_t max_batches = kMaxBatches);

  // The first call reads all that is kept, and ends the source.
  absl::Status Next() override;
  const wire::BatchHeader& header() const override { return header_; }
  const wire::BatchTiming& timing() const override { return timing_; }
  const GraphTensors* resident() const override { return &kept_[turn_].tensors; }
  absl::Status Expand(const GraphTensors& out) override;
  void Cancel() override { source_->Cancel(); }

 private:
  struct Kept {
    wire::BatchHeader header;
    GraphTensors tensors;
  };

  absl::Status Keep();
  absl::Status KeepNext();
  void ShowTurn();

  const std::unique_ptr<TrainingBatches> source_;
  const InputLayout layout_;
  const at::Device device_;
  const std::size_t max_batches_;
  const wire::BatchTiming timing_{};  // no server builds what is served here
  std::vector<Kept> kept_;
  std::size_t turn_ = 0;
  std::uint64_t epoch_ = 0;
  wire::BatchHeader header_;  // of the batch at hand
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_
