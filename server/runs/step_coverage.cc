#include "server/runs/step_coverage.h"

#include <algorithm>
#include <iterator>

namespace packtrain::runs {

bool StepCoverage::Contains(std::uint64_t step) const {
  const auto after = intervals_.upper_bound(step);
  return after != intervals_.begin() && std::prev(after)->second >= step;
}

bool StepCoverage::Insert(std::uint64_t step) {
  const auto after = intervals_.upper_bound(step);
  const auto before = after == intervals_.begin() ? intervals_.end() : std::prev(after);
  if (before != intervals_.end() && before->second >= step) return false;
  const bool joins_after = after != intervals_.end() && after->first == step + 1;
  const std::uint64_t last = joins_after ? after->second : step;
  if (joins_after) intervals_.erase(after);
  if (before != intervals_.end() && before->second + 1 == step) {
    before->second = last;
  } else {
    intervals_.emplace(step, last);
  }
  ++count_;
  return true;
}

void StepCoverage::InsertBelow(std::uint64_t end, const StepCoverage& other) {
  for (const auto& [first, last] : other.intervals_) {
    if (first >= end) return;
    InsertAll(first, std::min(last, end - 1));
  }
}

void StepCoverage::InsertAll(std::uint64_t first, std::uint64_t last) {
  auto next = intervals_.upper_bound(first);
  if (next != intervals_.begin() && std::prev(next)->second >= (first == 0 ? 0 : first - 1)) --next;
  while (next != intervals_.end() && (next->first <= last || next->first - 1 == last)) {
    first = std::min(first, next->first);
    last = std::max(last, next->second);
    count_ -= next->second - next->first + 1;
    next = intervals_.erase(next);
  }
  intervals_.emplace(first, last);
  count_ += last - first + 1;
}

std::optional<std::uint64_t> StepCoverage::last() const {
  if (intervals_.empty()) return std::nullopt;
  return intervals_.rbegin()->second;
}

}  // namespace packtrain::runs
