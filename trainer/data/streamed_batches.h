// Batches as a server streams them.
#ifndef PACKTRAIN_TRAINER_DATA_STREAMED_BATCHES_H_
#define PACKTRAIN_TRAINER_DATA_STREAMED_BATCHES_H_

#include <memory>
#include <optional>

#include "client/batch_reader.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/training_batches.h"

namespace packtrain::trainer {

class StreamedBatches final : public TrainingBatches {
 public:
  // `feed` is borrowed.
  StreamedBatches(std::unique_ptr<client::BatchReader> stream, DeviceFeed& feed);

  absl::Status Next() override;
  const wire::BatchHeader& header() const override { return batch_->header(); }
  const wire::BatchTiming& timing() const override { return batch_->timing(); }
  absl::Status Expand(const GraphTensors& out) override;
  void Cancel() override { stream_->Cancel(); }

 private:
  const std::unique_ptr<client::BatchReader> stream_;
  DeviceFeed& feed_;
  std::optional<wire::Batch> batch_;
  std::optional<wire::Batch> spent_;  // the one before: Next, which is timed, does not free it
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_STREAMED_BATCHES_H_
