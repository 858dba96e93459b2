// Batches as if input cost nothing, to find what it costs.
#ifndef PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_
#define PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/data/training_batches.h"

namespace packtrain::trainer {

// As many batches as another source has up to the end of its epoch, but at most kMaxBatches, again and again
// from the memory of the training device; each round counts as an epoch. Batches of one padded shape are all
// the first of that shape, so that a step which reads it in place, or whose tensors have held it already, finds
// it there: nothing is copied, and no feed can be faster.
class SyntheticBatches final : public TrainingBatches {
 public:
  static constexpr std::size_t kMaxBatches = 64;

  SyntheticBatches(std::unique_ptr<TrainingBatches> source, const InputLayout& layout, at::Device device);

  // The first call reads all that is kept, and ends the source.
  absl::Status Next() override;
  const wire::BatchHeader& header() const override { return header_; }
  const wire::BatchTiming& timing() const override { return timing_; }
  const GraphTensors* resident() const override { return &kept_[turns_[turn_].kept].tensors; }
  // Copies where `out` is not what the shape's batch was copied into last. Who trains changes no element of it.
  absl::Status Expand(const GraphTensors& out) override;
  void Cancel() override { source_->Cancel(); }

 private:
  using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

  // The batch of a shape.
  struct Kept {
    wire::BatchHeader header;
    GraphTensors tensors;
    // A tensor of those that it was copied into last, at first one of its own. It is not kept alive, but none
    // that lives is equal to one that does not.
    WeakTensor copied_into;
  };

  // A batch of the source: its place, and that of its shape's batch in kept_.
  struct Turn {
    std::uint64_t step = 0;
    std::uint64_t index = 0;
    std::size_t kept = 0;
  };

  absl::Status Keep();
  absl::Status KeepNext();
  // Where the batch of a shape is in kept_; it is the source's batch at hand if there was none.
  absl::StatusOr<std::size_t> KeptOf(const wire::Shape& padded);
  void ShowTurn();

  const std::unique_ptr<TrainingBatches> source_;
  const InputLayout layout_;
  const at::Device device_;
  const wire::BatchTiming timing_{};  // no server builds what is served here
  std::vector<Kept> kept_;
  std::vector<Turn> turns_;
  std::size_t turn_ = 0;
  std::uint64_t epoch_ = 0;
  wire::BatchHeader header_;  // of the batch at hand
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_SYNTHETIC_BATCHES_H_
