// absl::Status inside, grpc::Status at the edge. Code and message pass unchanged; details do not.
#ifndef PACKTRAIN_PROTO_WIRE_STATUS_CONVERT_H_
#define PACKTRAIN_PROTO_WIRE_STATUS_CONVERT_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace packtrain::wire {

grpc::Status ToGrpcStatus(const absl::Status& status);

// A code that is none of gRPC's becomes UNKNOWN.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_STATUS_CONVERT_H_
