#include "server/batching/split.h"

#include <algorithm>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/batching/philox.h"

namespace packtrain::batching {
namespace {

std::vector<std::uint32_t> Permute(std::uint32_t seed, std::uint32_t n) {
  std::vector<std::uint32_t> indices(n);
  std::iota(indices.begin(), indices.end(), 0u);
  Shuffle(PhiloxStream({seed, 0}, {0, kSplitDomain}), indices);
  return indices;
}

std::vector<std::uint32_t> SortedRange(const std::vector<std::uint32_t>& indices, std::uint64_t begin,
                                       std::uint64_t end) {
  std::vector<std::uint32_t> range(indices.data() + begin, indices.data() + end);
  std::sort(range.begin(), range.end());
  return range;
}

}  // namespace

absl::StatusOr<SplitIndices> SplitByFractions(std::uint32_t seed, std::uint32_t n, SplitPermille fractions) {
  const std::uint64_t sum = std::uint64_t{fractions.train} + fractions.val + fractions.test;
  if (sum != 1000) {
    return absl::InvalidArgumentError(absl::StrCat("--split-permille ", fractions.train, ",", fractions.val,
                                                   ",", fractions.test, " adds up to ", sum, ", not 1000"));
  }
  const std::uint64_t train_end = std::uint64_t{n} * fractions.train / 1000;
  const std::uint64_t val_end = std::uint64_t{n} * (fractions.train + fractions.val) / 1000;
  const std::vector<std::uint32_t> indices = Permute(seed, n);
  return SplitIndices{SortedRange(indices, 0, train_end), SortedRange(indices, train_end, val_end),
                      SortedRange(indices, val_end, n)};
}

}  // namespace packtrain::batching
