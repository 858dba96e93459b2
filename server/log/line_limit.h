// Limits the rate of log lines, by kind.
#ifndef PACKTRAIN_SERVER_LOG_LINE_LIMIT_H_
#define PACKTRAIN_SERVER_LOG_LINE_LIMIT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/mutex.h"

namespace packtrain::log {

// Admits at most kLines lines of a kind in each interval of kStretch. Any number of threads may use it.
class LineLimit {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::uint64_t kLines = 10;
  static constexpr std::chrono::seconds kStretch{10};

  // `now` is Clock::now except in tests.
  explicit LineLimit(std::function<Clock::time_point()> now = Clock::now);

  // nullopt: the line is to be suppressed. Otherwise the number of lines of its kind that were suppressed since
  // the last one.
  std::optional<std::uint64_t> Admit(std::string_view sort);

 private:
  struct Sort {
    Clock::time_point stretch_began;
    std::uint64_t lines = 0;  // in this stretch
    std::uint64_t left_out = 0;
  };

  const std::function<Clock::time_point()> now_;
  base::Mutex mutex_;
  std::map<std::string, Sort, std::less<>> sorts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::log

#endif  // PACKTRAIN_SERVER_LOG_LINE_LIMIT_H_
