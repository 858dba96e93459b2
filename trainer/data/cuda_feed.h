// The feed of a trainer on a GPU.
#ifndef PACKTRAIN_TRAINER_DATA_CUDA_FEED_H_
#define PACKTRAIN_TRAINER_DATA_CUDA_FEED_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/input_fields.h"

namespace packtrain::trainer {

struct CudaFeedOptions {
  std::size_t slots = 4;     // batches that may be on their way at once; at least 1
  bool with_checks = false;  // compare checksums of what left the host and of what arrived
};

// Sections cross the bus as they came, and the card expands them: the host writes no index. A batch is copied
// into a page-locked slot and from there, on a stream of the feed's own, to the slot's part on the device,
// where the current stream waits for it. A slot that is too small for a batch grows.
class CudaFeed final : public DeviceFeed {
 public:
  // `device` is the current one.
  CudaFeed(FeedOptions options, at::Device device, const CudaFeedOptions& cuda = {});
  // Waits for what has been enqueued.
  ~CudaFeed() override;

  // Waits where the slot that is due is still being copied.
  absl::Status Expand(const wire::Batch& batch, const GraphTensors& out) override;

  // Batches that were on the device what they were on the host, both before and after their expansion; of a
  // feed with checks. Waits for the current stream. DATA_LOSS: says how many checks found a difference.
  absl::StatusOr<std::uint64_t> VerifiedBatches() const;

 private:
  class Slot;

  Slot& NextSlot();
  void EnqueueCheck(const Slot& slot, std::size_t bytes, std::uint64_t checksum);

  const FeedOptions options_;
  const std::vector<InputField> fields_;
  const std::vector<std::string_view> sections_;  // that cross the bus, where a batch has them
  const at::Tensor class_of_;                     // i32 [256], the class table on the device
  const at::Tensor target_columns_;               // u8, the TargetColumns::chosen on the device
  const at::Tensor tally_;                        // u8, a ChecksumTally on the device; undefined without checks
  const c10::Stream copies_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t next_ = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_CUDA_FEED_H_
