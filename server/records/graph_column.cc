#include "server/records/graph_column.h"

#include <algorithm>

namespace packtrain::records {

void GraphColumn::Add(std::uint32_t number) {
  if (number >= kLarge) large_.emplace_back(static_cast<std::uint32_t>(small_.size()), number);
  small_.push_back(static_cast<std::uint16_t>(std::min<std::uint32_t>(number, kLarge)));
  max_ = std::max(max_, number);
}

std::uint32_t GraphColumn::LargeAt(std::size_t graph) const {
  return std::ranges::lower_bound(large_, graph, {}, &std::pair<std::uint32_t, std::uint32_t>::first)->second;
}

std::vector<std::uint32_t> GraphColumn::Numbers(std::size_t begin, std::size_t count) const {
  std::vector<std::uint32_t> numbers(count);
  for (std::size_t k = 0; k < count; ++k) numbers[k] = (*this)[begin + k];
  return numbers;
}

std::uint64_t GraphColumn::memory_bytes() const { return BytesOf(small_) + BytesOf(large_); }

}  // namespace packtrain::records
