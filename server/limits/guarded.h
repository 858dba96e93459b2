// Where the system refuses memory that the budget has.
#ifndef PACKTRAIN_SERVER_LIMITS_GUARDED_H_
#define PACKTRAIN_SERVER_LIMITS_GUARDED_H_

#include <exception>
#include <new>

#include "absl/status/status.h"

namespace packtrain::limits {

// The failure of a call whose allocation failed: RESOURCE_EXHAUSTED, with the reason of a memory that is in
// use.
absl::Status NoMemoryFromSystem();

// Calls `work`, which returns absl::Status or absl::StatusOr. What it throws is the failure of that call alone,
// and leaves the server alive: NoMemoryFromSystem, or INTERNAL for anything else.
template <typename Work>
auto Guarded(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return NoMemoryFromSystem();
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace packtrain::limits

#endif  // PACKTRAIN_SERVER_LIMITS_GUARDED_H_
