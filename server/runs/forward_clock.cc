#include "server/runs/forward_clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace packtrain::runs {
namespace {

template <typename Clock>
std::int64_t NowMsOf() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t SystemNowMs() { return NowMsOf<std::chrono::system_clock>(); }

std::int64_t SteadyNowMs() { return NowMsOf<std::chrono::steady_clock>(); }

ForwardClock::ForwardClock(Source system_ms, Source steady_ms)
    : system_ms_(std::move(system_ms)),
      steady_ms_(std::move(steady_ms)),
      known_ms_(system_ms_()),
      known_steady_ms_(steady_ms_()) {}

std::int64_t ForwardClock::NowMs() {
  base::MutexLock lock(mutex_);
  const std::int64_t steady = steady_ms_();
  known_ms_ = std::max(system_ms_(), known_ms_ + (steady - known_steady_ms_));
  known_steady_ms_ = steady;
  return known_ms_;
}

void ForwardClock::NotBefore(std::int64_t ms) {
  base::MutexLock lock(mutex_);
  known_ms_ = std::max(known_ms_, ms);
}

}  // namespace packtrain::runs
