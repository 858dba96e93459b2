// From a received batch to tensors on the training device.
//
//   const std::unique_ptr<DeviceFeed> feed = device.NewFeed({layout, targets, classes});
//   const GraphTensors graphs = NewGraphTensors(batch.header().padded, layout, device.torch_device());
//   ABSL_RETURN_IF_ERROR(feed->Expand(batch, graphs));  // `graphs` holds the padded batch from here on
#ifndef PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_
#define PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_

#include <vector>

#include "absl/status/status.h"
#include "proto/wire/batch.h"
#include "trainer/data/graph_inputs.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {

// What a feed brings, and how values of the batch become values of the tensors.
struct FeedOptions {
  InputLayout layout;
  std::vector<Target> targets = {};  // InputSizes::targets of them, where the layout has Input::kTargets
  ClassTable classes = {};           // read where the layout has Input::kAtomicNumbers
  TokenClasses token_classes = {};   // of the tokens that there are, where the layout has Input::kTokens
};

// Expands, pads and normalises. Used by one thread.
class DeviceFeed {
 public:
  virtual ~DeviceFeed() = default;

  // Fills every element of `out`, tensors of `batch`'s padded shape and of the feed's layout, on the feed's
  // device. On a GPU the work is enqueued, its last part on the current stream, and `batch` may go at once.
  // DATA_LOSS: the batch lacks a field that the layout needs, has it in another type or shape, or holds an
  // atomic number that the data set's class table does not, or a token or edge type beyond those that there
  // are. INVALID_ARGUMENT: `out` is of another shape.
  virtual absl::Status Expand(const wire::Batch& batch, const GraphTensors& out) = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_
