// absl::Status inside, grpc::Status at the edge. The code passes unchanged, and so do payloads, as details of a
// google.rpc.Status in the trailer grpc-status-details-bin.
#ifndef PACKTRAIN_PROTO_BASE_STATUS_CONVERT_H_
#define PACKTRAIN_PROTO_BASE_STATUS_CONVERT_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace packtrain::base {

// A message of more than 1024 bytes is cut to at most as many, the last three being "...". A failure without a
// google.rpc.ErrorInfo gets one, its reason being the name of the code. Payloads that do not fit into 2048
// bytes with those before them are left out.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The message passes unchanged. A code that is none of gRPC's becomes UNKNOWN. Details that do not parse are
// left out, as are those beyond the first 16.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_STATUS_CONVERT_H_
