#include "server/metrics/batch_tally.h"

namespace packtrain::metrics {
namespace {

std::uint64_t Slots(const wire::Shape& shape) { return std::uint64_t{shape.nodes} + shape.edges; }

double PaddingRatio(const wire::Shape& real, const wire::Shape& padded) {
  const std::uint64_t slots = Slots(padded);
  return slots == 0 ? 0 : static_cast<double>(slots - Slots(real)) / static_cast<double>(slots);
}

}  // namespace

void BatchTally::Count(const wire::BatchHeader& batch, std::chrono::nanoseconds build_time) {
  ++batches;
  graphs += batch.real.graphs;
  body_bytes += batch.body_bytes;
  corrupt_graphs += batch.corrupt_graphs.size();
  build_seconds.Observe(std::chrono::duration<double>(build_time).count());
  padding_ratio.Observe(PaddingRatio(batch.real, batch.padded));
}

void BatchTally::Add(const BatchTally& other) {
  batches += other.batches;
  graphs += other.graphs;
  body_bytes += other.body_bytes;
  corrupt_graphs += other.corrupt_graphs;
  build_seconds.Add(other.build_seconds);
  padding_ratio.Add(other.padding_ratio);
}

void BatchTotals::Add(const Series& series, const BatchTally& tally) {
  all.Add(tally);
  if (tally.batches > 0) batches[series] += tally.batches;
}

void BatchTotals::Keep(const std::set<std::string>& datasets) {
  std::erase_if(batches, [&datasets](const auto& entry) { return !datasets.contains(entry.first.dataset); });
}

}  // namespace packtrain::metrics
