// Random splits of a data set.
#ifndef PACKTRAIN_SERVER_BATCHING_SPLIT_H_
#define PACKTRAIN_SERVER_BATCHING_SPLIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace packtrain::batching {

// Fractions in per mille.
struct SplitPermille {
  std::uint32_t train = 0;
  std::uint32_t val = 0;
  std::uint32_t test = 0;
};

// Graph indices of each split, ascending; together each index once.
struct SplitIndices {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> val;
  std::vector<std::uint32_t> test;
};

// Permutes 0 .. n-1 by the seed and cuts the result at floor(n * train / 1000) and
// floor(n * (train + val) / 1000): each split is within one graph of its fraction, and a fraction of 0 gets no
// graph. INVALID_ARGUMENT: the fractions do not add up to 1000.
absl::StatusOr<SplitIndices> SplitByFractions(std::uint32_t seed, std::uint32_t n, SplitPermille fractions);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SPLIT_H_
