#include "trainer/data/synthetic_batches.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

bool IsLastOfEpoch(const wire::BatchHeader& header) { return header.step + 1 == header.epoch_steps; }

}  // namespace

SyntheticBatches::SyntheticBatches(std::unique_ptr<TrainingBatches> source, const InputLayout& layout,
                                   at::Device device)
    : source_(std::move(source)), layout_(layout), device_(device) {}

absl::Status SyntheticBatches::Next() {
  if (kept_.empty()) return Keep();
  ++kept_[turn_].header.epoch;
  turn_ = (turn_ + 1) % kept_.size();
  return absl::OkStatus();
}

absl::Status SyntheticBatches::Expand(const GraphTensors& out) {
  CopyGraphTensors(AtHand().tensors, out);
  return absl::OkStatus();
}

absl::Status SyntheticBatches::Keep() {
  do {
    if (absl::Status status = KeepNext(); !status.ok()) {
      kept_.clear();
      return status;
    }
  } while (kept_.size() < kMaxBatches && !IsLastOfEpoch(kept_.back().header));
  source_->Cancel();
  return absl::OkStatus();
}

absl::Status SyntheticBatches::KeepNext() {
  ABSL_RETURN_IF_ERROR(source_->Next());
  const wire::BatchHeader& header = source_->header();
  kept_.push_back({header, NewGraphTensors(header.padded, layout_, device_)});
  return source_->Expand(kept_.back().tensors);
}

}  // namespace packtrain::trainer
