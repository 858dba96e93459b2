#include "trainer/data/streamed_batches.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {

StreamedBatches::StreamedBatches(std::unique_ptr<client::BatchReader> stream, DeviceFeed& feed)
    : stream_(std::move(stream)), feed_(feed) {}

absl::Status StreamedBatches::Next() {
  ABSL_ASSIGN_OR_RETURN(std::optional<wire::Batch> batch, stream_->Next());
  if (!batch.has_value()) return absl::DataLossError("the stream of batches has ended");
  spent_ = std::exchange(batch_, std::move(batch));
  return absl::OkStatus();
}

absl::Status StreamedBatches::Expand(const GraphTensors& out) {
  spent_.reset();
  return feed_.Expand(*batch_, out);
}

}  // namespace packtrain::trainer
