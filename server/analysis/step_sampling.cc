#include "server/analysis/step_sampling.h"

#include <algorithm>
#include <numeric>

namespace packtrain::analysis {
namespace {

std::size_t FirstLeast(std::span<const std::uint64_t> totals, std::size_t begin, std::size_t end) {
  const std::span<const std::uint64_t> bin = totals.subspan(begin, end - begin);
  return begin + static_cast<std::size_t>(std::ranges::min_element(bin) - bin.begin());
}

std::size_t FirstGreatest(std::span<const std::uint64_t> totals, std::size_t begin, std::size_t end) {
  const std::span<const std::uint64_t> bin = totals.subspan(begin, end - begin);
  return begin + static_cast<std::size_t>(std::ranges::max_element(bin) - bin.begin());
}

}  // namespace

std::vector<std::size_t> SamplePoints(std::span<const std::uint64_t> totals, std::size_t max_points) {
  if (totals.size() <= max_points) {
    std::vector<std::size_t> all(totals.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  if (max_points < 2) return {FirstGreatest(totals, 0, totals.size())};
  const std::size_t intervals = max_points / 2;
  std::vector<std::size_t> chosen;
  chosen.reserve(max_points);
  for (std::size_t i = 0; i < intervals; ++i) {
    const std::size_t begin = totals.size() * i / intervals;
    const std::size_t end = totals.size() * (i + 1) / intervals;
    const std::size_t least = FirstLeast(totals, begin, end);
    const std::size_t greatest = FirstGreatest(totals, begin, end);
    chosen.push_back(std::min(least, greatest));
    if (least != greatest) chosen.push_back(std::max(least, greatest));
  }
  return chosen;
}

}  // namespace packtrain::analysis
