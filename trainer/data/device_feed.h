// From a received batch to tensors on the training device.
#ifndef PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_
#define PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "absl/status/statusor.h"
#include "proto/wire/batch.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {

// Expands, pads and normalises in one pass on the host. Used by one thread.
class DeviceFeed {
 public:
  DeviceFeed(Target target, ClassTable classes, at::Device device);

  // Tensors of `batch`'s padded shape. On a GPU the copy is only enqueued. DATA_LOSS: the batch lacks a field,
  // has it in another type, or holds an atomic number that the data set's class table does not.
  absl::StatusOr<GraphTensors> Expand(const wire::Batch& batch);

 private:
  absl::Status ExpandClasses(const wire::Batch& batch, at::Tensor& classes) const;
  absl::Status ExpandTarget(const wire::Batch& batch, GraphTensors& out);

  const Target target_;
  const ClassTable classes_;
  const at::Device device_;
  std::vector<double> targets_;  // field `y` of the batch at hand
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_
