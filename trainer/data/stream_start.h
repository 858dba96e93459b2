// Where a stream of batches begins. Free of Torch, as checkpoints name it.
#ifndef PACKTRAIN_TRAINER_DATA_STREAM_START_H_
#define PACKTRAIN_TRAINER_DATA_STREAM_START_H_

#include <cstdint>
#include <vector>

#include "client/batch_reader.h"

namespace packtrain::trainer {

// Fields as in client::StreamRequest.
struct StreamStart {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::vector<wire::Segment> segments = {};
  friend bool operator==(const StreamStart&, const StreamStart&) = default;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_STREAM_START_H_
