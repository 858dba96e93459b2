// The batches that a rank trains on, one a step.
#ifndef PACKTRAIN_TRAINER_DATA_TRAINING_BATCHES_H_
#define PACKTRAIN_TRAINER_DATA_TRAINING_BATCHES_H_

#include "absl/status/status.h"
#include "proto/wire/batch_layout.h"
#include "trainer/data/graph_tensors.h"

namespace packtrain::trainer {

// Used by one thread.
class TrainingBatches {
 public:
  virtual ~TrainingBatches() = default;

  // Goes on to the next batch, and waits for it. Codes as BatchReader::Next; at the end of the stream
  // DATA_LOSS.
  virtual absl::Status Next() = 0;

  // Of the batch that Next went on to; good until the next call of Next.
  virtual const wire::BatchHeader& header() const = 0;
  virtual const wire::BatchTiming& timing() const = 0;
  // Tensors that hold the batch and stay as they are, where there are such; good until the next call of Next.
  virtual const GraphTensors* resident() const { return nullptr; }
  // Fills `out`, tensors of its padded shape, as DeviceFeed::Expand does, with its codes.
  virtual absl::Status Expand(const GraphTensors& out) = 0;

  // Ends the source; a blocked Next returns CANCELLED. The one call that any thread may make.
  virtual void Cancel() = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_TRAINING_BATCHES_H_
