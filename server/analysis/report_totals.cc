#include "server/analysis/report_totals.h"

#include <algorithm>
#include <functional>

namespace packtrain::analysis {
namespace {

constexpr double kSecondsPerNs = 1e-9;
// The largest number of event names in a summary; clients choose names freely.
constexpr std::size_t kMaxEventNames = 64;
constexpr int kMaxCorruptGraphsListed = 1000;

}  // namespace

void SampleTotals::Add(const RankAttempt& process, const v1::Sample& sample) {
  if (sample.has_device_memory_bytes()) {
    peak_device_bytes_ = std::max(peak_device_bytes_.value_or(0), sample.device_memory_bytes());
  }
  if (!sample.has_device_energy_uj() || !sample.has_step()) return;
  ProcessReadings& read = energy_[process];
  read.device_id = sample.device_id();
  const std::int64_t time_ns = sample.has_monotonic_ns() ? sample.monotonic_ns() : sample.time_ns();
  read.readings.push_back({time_ns, sample.step(), sample.device_energy_uj()});
}

void EventTotals::Add(const v1::Event& event) {
  v1::EventTotal& total = by_name_[event.name()];
  total.set_name(event.name());
  total.set_count(total.count() + 1);
  total.set_seconds(total.seconds() + static_cast<double>(event.duration_ns()) * kSecondsPerNs);
}

std::vector<v1::EventTotal> EventTotals::Longest() const {
  std::vector<v1::EventTotal> longest;
  longest.reserve(by_name_.size());
  for (const auto& [name, total] : by_name_) longest.push_back(total);
  std::ranges::stable_sort(longest, std::greater(), &v1::EventTotal::seconds);
  longest.resize(std::min(longest.size(), kMaxEventNames));
  return longest;
}

void CorruptGraphTotals::Add(const v1::CorruptGraphs& batch) {
  summary_.set_count(summary_.count() + static_cast<std::uint64_t>(batch.graphs_size()));
  graphs_.insert(batch.graphs().begin(), batch.graphs().end());
  summary_.set_graphs(graphs_.size());
  for (const std::uint64_t graph : batch.graphs()) {
    if (summary_.list_size() == kMaxCorruptGraphsListed) break;
    v1::CorruptGraph& listed = *summary_.add_list();
    listed.set_graph(graph);
    listed.set_step(batch.step());
    listed.set_epoch(batch.epoch());
    listed.set_batch_index(batch.batch_index());
    listed.set_split(batch.split());
  }
  summary_.set_truncated(summary_.count() > static_cast<std::uint64_t>(summary_.list_size()));
}

}  // namespace packtrain::analysis
