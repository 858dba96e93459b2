// Between the plain batch spec and its message.
#ifndef PACKTRAIN_CLIENT_INTERNAL_SPEC_CONVERT_H_
#define PACKTRAIN_CLIENT_INTERNAL_SPEC_CONVERT_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/batch_spec.h"
#include "packtrain/v1/batch.pb.h"

namespace packtrain::client {

// INVALID_ARGUMENT, naming the flag and the known words, where a word is none of them or the policy is
// missing. Empty words other than the policy become unspecified: the server's default.
absl::StatusOr<v1::BatchSpec> ToMessage(const BatchSpec& spec);

// For showing what a server has. Unspecified values become empty words; values of a newer server become
// "unknown(NUMBER)".
BatchSpec FromMessage(const v1::BatchSpec& message);

// The flags that decide how large the batches of a spec are, for messages: "--graphs and --pad".
const char* SizeFlagsOf(const v1::BatchSpec& message);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_SPEC_CONVERT_H_
