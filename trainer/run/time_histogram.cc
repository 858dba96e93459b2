#include "trainer/run/time_histogram.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace packtrain::trainer {
namespace {

// Buckets of a power of two.
constexpr std::uint32_t kParts = 128;
constexpr int kPartBits = 7;
constexpr std::uint32_t kBuckets = kParts + (64 - kPartBits) * kParts;

std::uint32_t IndexOf(std::uint64_t ns) {
  if (ns < kParts) return static_cast<std::uint32_t>(ns);
  const int shift = std::bit_width(ns) - 1 - kPartBits;
  return static_cast<std::uint32_t>(shift) * kParts + static_cast<std::uint32_t>(ns >> shift);
}

double MiddleOf(std::uint32_t index) {
  if (index < 2 * kParts) return index;
  const std::uint32_t shift = index / kParts - 1;
  const std::uint64_t first = std::uint64_t{index - shift * kParts} << shift;
  const std::uint64_t width = std::uint64_t{1} << shift;
  return static_cast<double>(first) + static_cast<double>(width - 1) / 2;
}

}  // namespace

void TimeHistogram::Add(std::uint64_t ns) {
  const std::uint32_t index = IndexOf(ns);
  if (counts_.size() <= index) counts_.resize(index + 1);
  ++counts_[index];
  ++count_;
  sum_ns_ += ns;
}

double TimeHistogram::Quantile(double q) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const double position = q * static_cast<double>(count_ - 1);
  const auto below = static_cast<std::uint64_t>(position);
  const double low = TimeAt(below), high = TimeAt(std::min(below + 1, count_ - 1));
  return low + (position - static_cast<double>(below)) * (high - low);
}

double TimeHistogram::TimeAt(std::uint64_t rank) const {
  std::uint32_t index = 0;
  for (std::uint64_t before = counts_[0]; before <= rank; before += counts_[++index]) {
  }
  return MiddleOf(index);
}

std::vector<TimeHistogram::Bucket> TimeHistogram::buckets() const {
  std::vector<Bucket> filled;
  for (std::uint32_t index = 0; index < counts_.size(); ++index) {
    if (counts_[index] > 0) filled.push_back({index, counts_[index]});
  }
  return filled;
}

bool TimeHistogram::Restore(std::uint64_t sum_ns, std::span<const Bucket> buckets) {
  TimeHistogram restored;
  restored.sum_ns_ = sum_ns;
  for (const Bucket& bucket : buckets) {
    const bool ascends = bucket.index >= restored.counts_.size() && bucket.index < kBuckets;
    if (!ascends || bucket.count == 0 ||
        bucket.count > std::numeric_limits<std::uint64_t>::max() - restored.count_) {
      return false;
    }
    restored.counts_.resize(bucket.index + 1);
    restored.counts_[bucket.index] = bucket.count;
    restored.count_ += bucket.count;
  }
  *this = std::move(restored);
  return true;
}

}  // namespace packtrain::trainer
