#include "server/runs/block_merger.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace packtrain::runs {

absl::Status BlockMerger::Add(Reporter reporter, std::vector<wire::StepRecord> steps) {
  const bool same =
      reporter.run == reporter_.run && reporter.rank == reporter_.rank && reporter.attempt == reporter_.attempt;
  if (same && !pending_.empty() && steps.front().step < pending_.back().step) {
    Merge(steps);
    return absl::OkStatus();
  }
  absl::Status status = Flush();
  reporter_ = std::move(reporter);
  pending_ = std::move(steps);
  return status;
}

absl::Status BlockMerger::Flush() { return pending_.empty() ? absl::OkStatus() : sink_(reporter_, pending_); }

void BlockMerger::Merge(const std::vector<wire::StepRecord>& steps) {
  const auto old_size = static_cast<std::ptrdiff_t>(pending_.size());
  pending_.insert(pending_.end(), steps.begin(), steps.end());
  std::inplace_merge(pending_.begin(), pending_.begin() + old_size, pending_.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
}

}  // namespace packtrain::runs
