// The feed of a trainer on the CPU.
#ifndef PACKTRAIN_TRAINER_DATA_HOST_FEED_H_
#define PACKTRAIN_TRAINER_DATA_HOST_FEED_H_

#include <vector>

#include "trainer/data/device_feed.h"
#include "trainer/data/input_fields.h"

namespace packtrain::trainer {

// Writes each tensor in one pass over the batch.
class HostFeed final : public DeviceFeed {
 public:
  explicit HostFeed(FeedOptions options);

  absl::Status Expand(const wire::Batch& batch, const GraphTensors& out) override;

 private:
  void ExpandInput(const wire::Batch& batch, const InputField& field, const GraphTensors& out) const;
  absl::Status ExpandTargets(const wire::Batch& batch, const GraphTensors& out);

  const FeedOptions options_;
  const std::vector<InputField> fields_;
  std::vector<double> y_;  // field `y` of the batch at hand
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_HOST_FEED_H_
