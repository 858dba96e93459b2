// The feed of a trainer on the CPU.
#ifndef PACKTRAIN_TRAINER_DATA_HOST_FEED_H_
#define PACKTRAIN_TRAINER_DATA_HOST_FEED_H_

#include <vector>

#include "trainer/data/device_feed.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {

// Writes each tensor in one pass over the batch.
class HostFeed final : public DeviceFeed {
 public:
  HostFeed(Target target, const ClassTable& classes);

  absl::Status Expand(const wire::Batch& batch, const GraphTensors& out) override;

 private:
  absl::Status ExpandTarget(const wire::Batch& batch, const GraphTensors& out);

  const Target target_;
  const ClassTable classes_;
  std::vector<double> targets_;  // field `y` of the batch at hand
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_HOST_FEED_H_
