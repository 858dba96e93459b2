#include "trainer/data/synthetic_batches.h"

#include <algorithm>
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
  if (turns_.empty()) return Keep();
  turn_ = (turn_ + 1) % turns_.size();
  if (turn_ == 0) ++epoch_;
  ShowTurn();
  return absl::OkStatus();
}

absl::Status SyntheticBatches::Expand(const GraphTensors& out) {
  Kept& kept = kept_[turns_[turn_].kept];
  if (kept.copied_into._unsafe_get_target() == out.senders.unsafeGetTensorImpl()) return absl::OkStatus();
  CopyGraphTensors(kept.tensors, out);
  kept.copied_into = WeakTensor(out.senders.getIntrusivePtr());
  return absl::OkStatus();
}

absl::Status SyntheticBatches::Keep() {
  do {
    if (absl::Status status = KeepNext(); !status.ok()) {
      turns_.clear();
      kept_.clear();
      return status;
    }
  } while (turns_.size() < kMaxBatches && !IsLastOfEpoch(source_->header()));
  epoch_ = kept_.front().header.epoch;
  ShowTurn();
  source_->Cancel();
  return absl::OkStatus();
}

absl::Status SyntheticBatches::KeepNext() {
  ABSL_RETURN_IF_ERROR(source_->Next());
  const wire::BatchHeader& header = source_->header();
  ABSL_ASSIGN_OR_RETURN(const std::size_t kept, KeptOf(header.padded));
  turns_.push_back({.step = header.step, .index = header.index, .kept = kept});
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> SyntheticBatches::KeptOf(const wire::Shape& padded) {
  const auto found = std::ranges::find(
      kept_, padded, [](const Kept& kept) -> const wire::Shape& { return kept.header.padded; });
  if (found != kept_.end()) return static_cast<std::size_t>(found - kept_.begin());
  GraphTensors tensors = NewGraphTensors(padded, layout_, device_);
  ABSL_RETURN_IF_ERROR(source_->Expand(tensors));
  kept_.push_back({source_->header(), tensors, WeakTensor(tensors.senders.getIntrusivePtr())});
  return kept_.size() - 1;
}

void SyntheticBatches::ShowTurn() {
  const Turn& turn = turns_[turn_];
  header_ = kept_[turn.kept].header;
  header_.epoch = epoch_;
  header_.step = turn.step;
  header_.index = turn.index;
}

}  // namespace packtrain::trainer
