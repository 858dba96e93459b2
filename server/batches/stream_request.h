// What a client asks for when it opens a stream of batches.
#ifndef PACKTRAIN_SERVER_BATCHES_STREAM_REQUEST_H_
#define PACKTRAIN_SERVER_BATCHES_STREAM_REQUEST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "server/batches/batch_sequence.h"
#include "server/batches/resolved_spec.h"

namespace packtrain::batches {

// A StreamBatches request that was checked as far as it can be without a look at any data set. To make one
// neither blocks nor takes long, so that a stream is refused for what its request says before it takes a place
// on the server.
struct StreamRequest {
  // INVALID_ARGUMENT: a field is missing, unknown or out of range, or contradicts another; the message names
  // it.
  static absl::StatusOr<StreamRequest> Create(const v1::StreamBatchesRequest& request);

  RequestedSpec spec;
  SequenceRange range;
  std::string expected_fingerprint;  // empty: any
  std::uint32_t max_part_bytes = 0;  // what the client takes in one message
  std::string place;                 // which the stream shares with another one; empty: its own
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_STREAM_REQUEST_H_
