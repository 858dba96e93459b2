// Where a stream of batches stands, and whether what came is what was due.
#ifndef PACKTRAIN_CLIENT_INTERNAL_STREAM_POSITION_H_
#define PACKTRAIN_CLIENT_INTERNAL_STREAM_POSITION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/batch_reader.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::client {

// Not thread-safe.
class StreamPosition {
 public:
  // At the request's first batch.
  explicit StreamPosition(const StreamRequest& request);

  // The batch that is due next.
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t step() const { return step_; }
  // What was trained of the current epoch in other worlds; see StreamRequest.
  const std::vector<wire::Segment>& segments() const { return segments_; }
  // Epochs left, the current one counted; 0: without end.
  std::uint64_t epochs_left() const { return end_epoch_ == 0 ? 0 : end_epoch_ - epoch_; }
  // Of every batch so far; the request's before the first one.
  const std::string& fingerprint() const { return fingerprint_; }
  // Every batch asked for has come.
  bool AtEnd() const { return end_epoch_ != 0 && epoch_ == end_epoch_; }

  // Takes the next batch, whose header has passed wire::CheckHeader. DATA_LOSS: another one was due.
  // FAILED_PRECONDITION: it is of another plan.
  absl::Status Advance(const wire::BatchHeader& header);

  // Whether the server may end its stream here; DATA_LOSS where batches are still due.
  absl::Status CheckEnd() const;

 private:
  // The request began past the last step of its epoch, if `epoch_` has no more than `step_` steps.
  bool MayBeginWithNextEpoch() const { return step_ > 0 && epoch_steps_ == 0; }
  absl::Status CheckPlan(const wire::BatchHeader& header) const;
  absl::Status CheckPlace(const wire::BatchHeader& header) const;
  void BeginNextEpoch();
  // Of the batch that is due: those of the steps before it, then by rank.
  std::uint64_t Index() const;

  const std::uint32_t rank_;
  const std::uint32_t world_size_;
  const std::uint64_t end_epoch_;  // 0: without end
  const OnCorrupt on_corrupt_;
  std::string fingerprint_;
  std::uint64_t epoch_;
  std::uint64_t step_;
  std::vector<wire::Segment> segments_;
  std::uint64_t epoch_steps_ = 0;  // of the current epoch; 0: not known yet
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_STREAM_POSITION_H_
