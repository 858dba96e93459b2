#include "client/failure.h"

#include "client/internal/unary_call.h"
#include "proto/base/error_details.h"

namespace packtrain::client {

bool IsTransient(const absl::Status& status) {
  // CANCELLED comes from a server that ends its streams; our own cancelling is asked for first.
  return absl::IsUnavailable(status) || absl::IsCancelled(status);
}

bool IsFailingServer(const absl::Status& status) {
  return absl::IsUnavailable(status) && base::ReasonOf(status) == "UNAVAILABLE";
}

bool IsRefusedForMemory(const absl::Status& status) {
  return base::ReasonOf(status) == base::kMemoryLimit && base::RetryDelayOf(status).has_value();
}

bool IsReset(const absl::Status& outcome) { return base::MetadataOf(outcome, kResetBy) == kGrpc; }

}  // namespace packtrain::client
