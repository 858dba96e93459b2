#include "server/log/line_limit.h"

#include <utility>

namespace packtrain::log {

LineLimit::LineLimit(std::function<Clock::time_point()> now) : now_(std::move(now)) {}

std::optional<std::uint64_t> LineLimit::Admit(std::string_view sort) {
  const Clock::time_point now = now_();
  const base::MutexLock lock(mutex_);
  auto found = sorts_.find(sort);
  if (found == sorts_.end()) found = sorts_.emplace(sort, Sort{now, 0, 0}).first;
  Sort& state = found->second;
  if (now - state.stretch_began >= kStretch) {
    state.stretch_began = now;
    state.lines = 0;
  }
  if (state.lines == kLines) {
    ++state.left_out;
    return std::nullopt;
  }
  ++state.lines;
  return std::exchange(state.left_out, 0);
}

}  // namespace packtrain::log
