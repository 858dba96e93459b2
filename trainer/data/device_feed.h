// From a received batch to tensors on the training device.
#ifndef PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_
#define PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_

#include <string_view>

#include "absl/status/status.h"
#include "proto/wire/batch.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/data/target.h"

namespace packtrain::trainer {

// The fields of a molecule that a trainer reads.
inline constexpr std::string_view kAtomicNumbers = "z";  // u8 [nodes]
inline constexpr std::string_view kPositions = "pos";    // f32 [nodes, 3]
inline constexpr std::string_view kTargets = "y";        // f64 [graphs, columns]

// Expands, pads and normalises. Used by one thread.
class DeviceFeed {
 public:
  virtual ~DeviceFeed() = default;

  // Fills every element of `out`, tensors of `batch`'s padded shape on the feed's device. On a GPU the work is
  // enqueued, its last part on the current stream, and `batch` may go at once. DATA_LOSS: the batch lacks a
  // field, has it in another type or shape, or holds an atomic number that the data set's class table does not.
  virtual absl::Status Expand(const wire::Batch& batch, const GraphTensors& out) = 0;
};

// What must hold before a batch is expanded, with Expand's errors.
absl::Status CheckExpandable(const wire::Batch& batch, const Target& target, const ClassTable& classes);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_DEVICE_FEED_H_
