#include "server/runs/clocks.h"

#include <chrono>

namespace packtrain::runs {
namespace {

template <typename Clock>
std::int64_t NowMsOf() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t SystemNowMs() { return NowMsOf<std::chrono::system_clock>(); }

std::int64_t SteadyNowMs() { return NowMsOf<std::chrono::steady_clock>(); }

}  // namespace packtrain::runs
