#include "server/limits/guarded.h"

#include <chrono>

#include "proto/base/error_details.h"

namespace packtrain::limits {
namespace {

constexpr std::chrono::seconds kRetryDelay{10};

}  // namespace

absl::Status NoMemoryFromSystem() {
  return base::WithRetryDelay(
      base::WithReason(
          absl::ResourceExhaustedError("the system gave the server no memory for this; packtraind's "
                                       "--memory may be more than there is"),
          base::kMemoryLimit, {{"flag", base::kMemoryFlag}}),
      kRetryDelay);
}

}  // namespace packtrain::limits
