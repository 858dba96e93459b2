// absl::Status inside, grpc::Status at the edge. The code passes unchanged, details do not pass.
#ifndef PACKTRAIN_PROTO_WIRE_STATUS_CONVERT_H_
#define PACKTRAIN_PROTO_WIRE_STATUS_CONVERT_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace packtrain::wire {

// A message of more than 1024 bytes is cut to at most as many, the last three being "...".
grpc::Status ToGrpcStatus(const absl::Status& status);

// The message passes unchanged. A code that is none of gRPC's becomes UNKNOWN.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_STATUS_CONVERT_H_
