// The time of day, and time that passes.
#ifndef PACKTRAIN_SERVER_RUNS_CLOCKS_H_
#define PACKTRAIN_SERVER_RUNS_CLOCKS_H_

#include <cstdint>

namespace packtrain::runs {

// Milliseconds since 1970-01-01 UTC, by the system's clock, which may be set: it names and dates, and nothing
// else.
std::int64_t SystemNowMs();
// Milliseconds since any moment, by a monotonic clock.
std::int64_t SteadyNowMs();

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_CLOCKS_H_
