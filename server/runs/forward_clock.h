// Time that never goes back.
#ifndef PACKTRAIN_SERVER_RUNS_FORWARD_CLOCK_H_
#define PACKTRAIN_SERVER_RUNS_FORWARD_CLOCK_H_

#include <cstdint>
#include <functional>

#include "proto/base/mutex.h"

namespace packtrain::runs {

// Milliseconds since 1970-01-01 UTC, by the system's clock.
std::int64_t SystemNowMs();
// Milliseconds since any moment, by a clock that nobody sets.
std::int64_t SteadyNowMs();

// The system's time while that goes forward. Where it is set back, time goes on from where it was at the pace
// of the steady clock, until the system's has caught up. Any number of threads may use it.
class ForwardClock {
 public:
  using Source = std::function<std::int64_t()>;
  ForwardClock(Source system_ms, Source steady_ms);

  // Milliseconds since 1970-01-01 UTC; never less than an earlier call gave.
  std::int64_t NowMs();
  // From now on no time is before `ms`: that of a record which is already there.
  void NotBefore(std::int64_t ms);

 private:
  const Source system_ms_;
  const Source steady_ms_;

  base::Mutex mutex_;
  // A moment by both clocks.
  std::int64_t known_ms_ ABSL_GUARDED_BY(mutex_);
  std::int64_t known_steady_ms_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_FORWARD_CLOCK_H_
