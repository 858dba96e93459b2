// What a server knows of a run.
#ifndef PACKTRAIN_CLIENT_RUN_LOOKUP_H_
#define PACKTRAIN_CLIENT_RUN_LOOKUP_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/connection.h"

namespace packtrain::client {

// "running", "done", "failed" or "lost". `run` is its whole name. NOT_FOUND: the server has no such run;
// UNAVAILABLE: the server stays away for `give_up`.
absl::StatusOr<std::string> StateOfRun(const Connection& connection, const std::string& run);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_RUN_LOOKUP_H_
