#include "client/internal/stream_position.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {

StreamPosition::StreamPosition(const StreamRequest& request)
    : rank_(request.rank),
      world_size_(request.world_size),
      end_epoch_(request.epochs == 0 ? 0 : request.start_epoch + request.epochs),
      on_corrupt_(request.on_corrupt),
      fingerprint_(request.expected_fingerprint),
      epoch_(request.start_epoch),
      step_(request.start_step),
      segments_(request.segments) {}

absl::Status StreamPosition::Advance(const wire::BatchHeader& header) {
  if (AtEnd()) return absl::DataLossError("a batch came after the last one asked for");
  ABSL_RETURN_IF_ERROR(CheckPlan(header));
  if (MayBeginWithNextEpoch() && header.epoch == epoch_ + 1) {
    BeginNextEpoch();
    if (AtEnd()) return absl::DataLossError("a batch came after the last one asked for");
  }
  ABSL_RETURN_IF_ERROR(CheckPlace(header));
  fingerprint_ = header.fingerprint;
  epoch_steps_ = header.epoch_steps;
  ++step_;
  if (step_ == epoch_steps_) BeginNextEpoch();
  return absl::OkStatus();
}

void StreamPosition::BeginNextEpoch() {
  ++epoch_;
  step_ = 0;
  epoch_steps_ = 0;
  segments_.clear();
}

std::uint64_t StreamPosition::Index() const {
  std::uint64_t batches = 0, steps = 0;
  for (const wire::Segment& segment : segments_) {
    batches += segment.steps * segment.world_size;
    steps += segment.steps;
  }
  return batches + (step_ - steps) * world_size_ + rank_;
}

absl::Status StreamPosition::CheckEnd() const {
  const bool began_past_the_last_step = MayBeginWithNextEpoch() && epochs_left() == 1;
  if (AtEnd() || began_past_the_last_step) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the server ended the stream where epoch ", epoch_, ", step ", step_, " was due"));
}

absl::Status StreamPosition::CheckPlan(const wire::BatchHeader& header) const {
  if (header.rank != rank_ || header.world_size != world_size_) {
    return absl::DataLossError(absl::StrCat("a batch of rank ", header.rank, " of ", header.world_size,
                                            " came to rank ", rank_, " of ", world_size_));
  }
  if (on_corrupt_ == OnCorrupt::kStop && !header.corrupt_graphs.empty()) {
    return absl::DataLossError(absl::StrCat("batch ", header.index, " came without ",
                                            header.corrupt_graphs.size(),
                                            " of its graphs, which nobody asked for"));
  }
  if (fingerprint_.empty() || header.fingerprint == fingerprint_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the plan is another one: fingerprint ", header.fingerprint,
                                                    " came where ", fingerprint_, " was due"));
}

absl::Status StreamPosition::CheckPlace(const wire::BatchHeader& header) const {
  if (header.epoch != epoch_ || header.step != step_) {
    return absl::DataLossError(absl::StrCat("epoch ", header.epoch, ", step ", header.step,
                                            " came where epoch ", epoch_, ", step ", step_, " was due"));
  }
  if (header.index != Index()) {
    return absl::DataLossError(absl::StrCat("epoch ", epoch_, ", step ", step_, ": batch ", header.index,
                                            " came where batch ", Index(), " was due"));
  }
  if (epoch_steps_ != 0 && header.epoch_steps != epoch_steps_) {
    return absl::DataLossError(absl::StrCat("epoch ", epoch_, " had ", epoch_steps_, " steps, at step ", step_,
                                            " it has ", header.epoch_steps));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::client
