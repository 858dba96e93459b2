// How a call ends whose request its server stopped receiving, as both sides know it.
#ifndef PACKTRAIN_PROTO_BASE_REQUEST_STATUS_H_
#define PACKTRAIN_PROTO_BASE_REQUEST_STATUS_H_

#include <cstdint>

#include "absl/status/status.h"

namespace packtrain::base {

// RESOURCE_EXHAUSTED with the reason kMemoryLimit and a delay: requests that are being received hold
// `held_bytes` of memory, of `limit_bytes` that they may. A call of one request has not begun; ImportGraphs
// breaks off and can go on behind what is kept. Where gRPC sends this in the middle of a request it sends code
// and message alone.
absl::Status StoppedReceiving(std::uint64_t held_bytes, std::uint64_t limit_bytes);

// Whether a client got it.
bool IsStoppedReceiving(const absl::Status& status);
// What a client got, with the reason and the delay, and its message as it came.
absl::Status WithStopDetails(absl::Status received);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_REQUEST_STATUS_H_
