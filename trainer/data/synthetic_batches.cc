#include "trainer/data/synthetic_batches.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

bool IsLastOfEpoch(const wire::BatchHeader& header) { return header.step + 1 == header.epoch_steps; }

}  // namespace

SyntheticBatches::SyntheticBatches(std::unique_ptr<TrainingBatches> source, const InputLayout& layout,
                                   at::Device device, std::size_t max_batches)
    : source_(std::move(source)), layout_(layout), device_(device), max_batches_(max_batches) {}

absl::Status SyntheticBatches::Next() {
  if (kept_.empty()) return Keep();
  turn_ = (turn_ + 1) % kept_.size();
  if (turn_ == 0) ++epoch_;
  ShowTurn();
  return absl::OkStatus();
}

absl::Status SyntheticBatches::Expand(const GraphTensors& out) {
  CopyGraphTensors(*resident(), out);
  return absl::OkStatus();
}

absl::Status SyntheticBatches::Keep() {
  do {
    if (absl::Status status = KeepNext(); !status.ok()) {
      kept_.clear();
      return status;
    }
  } while (kept_.size() < max_batches_ && !IsLastOfEpoch(source_->header()));
  epoch_ = kept_.front().header.epoch;
  ShowTurn();
  source_->Cancel();
  return absl::OkStatus();
}

absl::Status SyntheticBatches::KeepNext() {
  ABSL_RETURN_IF_ERROR(source_->Next());
  const GraphTensors tensors = NewGraphTensors(source_->header().padded, layout_, device_);
  ABSL_RETURN_IF_ERROR(source_->Expand(tensors));
  kept_.push_back({source_->header(), tensors});
  return absl::OkStatus();
}

void SyntheticBatches::ShowTurn() {
  header_ = kept_[turn_].header;
  header_.epoch = epoch_;
}

}  // namespace packtrain::trainer
