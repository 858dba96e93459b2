// What a failed call tells of its server.
#ifndef PACKTRAIN_CLIENT_FAILURE_H_
#define PACKTRAIN_CLIENT_FAILURE_H_

#include "absl/status/status.h"

namespace packtrain::client {

// Whether the same request may succeed on a server that comes back.
bool IsTransient(const absl::Status& status);

// Whether a server that is there has answered UNAVAILABLE, as where its disk fails; of its own errors this is
// the one whose reason is no more than the name of its code.
bool IsFailingServer(const absl::Status& status);

// Whether the call ended for want of memory on the server, which says when to come again.
bool IsRefusedForMemory(const absl::Status& status);

// Whether gRPC reset the call because the server's connections were short of memory. The server may have
// executed it.
bool IsReset(const absl::Status& outcome);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_FAILURE_H_
