#include "server/batches/corrupt_graph_log.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "server/log/event_log.h"

namespace packtrain::batches {
namespace {

constexpr std::size_t kMaxGraphsNamed = 20;

std::string FirstOf(const std::vector<std::uint64_t>& graphs) {
  const auto end = graphs.begin() + static_cast<std::ptrdiff_t>(std::min(graphs.size(), kMaxGraphsNamed));
  return absl::StrJoin(graphs.begin(), end, ",") + (end == graphs.end() ? "" : ",...");
}

}  // namespace

void CorruptGraphLog::Add(std::string_view dataset, const wire::BatchHeader& batch) {
  std::uint64_t unsaid = 0;
  {
    base::MutexLock lock(mutex_);
    const std::chrono::steady_clock::time_point now = now_();
    if (now < quiet_until_) {
      unsaid_ += batch.corrupt_graphs.size();
      return;
    }
    quiet_until_ = now + kCorruptGraphLogPeriod;
    unsaid = std::exchange(unsaid_, 0);
  }
  log::Log(log::Level::kWarn, "corrupt_graphs_left_out",
           {{"dataset", dataset},
            {"epoch", batch.epoch},
            {"batch", batch.index},
            {"count", std::uint64_t{batch.corrupt_graphs.size()}},
            {"graphs", FirstOf(batch.corrupt_graphs)},
            {"not_logged_before", unsaid}});
}

}  // namespace packtrain::batches
