#include "proto/wire/lock_order.h"

#include "absl/synchronization/mutex.h"

namespace packtrain::wire {

void ForgetLockOrder() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

}  // namespace packtrain::wire
