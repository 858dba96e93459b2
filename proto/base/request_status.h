// How a call ends whose request its server stopped receiving, as both sides know it.
#ifndef PACKTRAIN_PROTO_BASE_REQUEST_STATUS_H_
#define PACKTRAIN_PROTO_BASE_REQUEST_STATUS_H_

#include "absl/status/status.h"

namespace packtrain::base {

// RESOURCE_EXHAUSTED with the reason kMemoryLimit and a delay: requests that are being received hold too much
// memory. The call has not begun. Where gRPC sends this in the middle of a request it sends code and message
// alone.
absl::Status StoppedReceiving();

// Whether a client got it.
bool IsStoppedReceiving(const absl::Status& status);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_REQUEST_STATUS_H_
