#include "proto/base/lock_order.h"

#include "absl/synchronization/mutex.h"

namespace packtrain::base {

void ForgetLockOrder() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

}  // namespace packtrain::base
