#include "server/batches/split_name.h"

#include <algorithm>

namespace packtrain::batches {

std::string SplitOrDefault(const std::string& split, const v1::Dataset& description) {
  if (!split.empty()) return split;
  const bool has_train = std::ranges::any_of(
      description.splits(), [](const v1::Split& candidate) { return candidate.name() == "train"; });
  return has_train ? "train" : "all";
}

}  // namespace packtrain::batches
