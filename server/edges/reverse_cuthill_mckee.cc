#include "server/edges/reverse_cuthill_mckee.h"

#include <algorithm>
#include <numeric>

#include "server/edges/working_memory.h"

namespace packtrain::edges {

void ReverseCuthillMckee::Number(std::uint32_t n_node, std::span<const std::uint32_t> senders,
                                 std::span<const std::uint32_t> receivers) {
  FindNeighbours(n_node, senders, receivers);
  for (std::uint32_t node = 0; node < n_node; ++node) SortByDegree(node);
  MakeRoom(is_found_, n_node);
  is_found_.assign(n_node, 0);
  MakeRoom(order_, n_node);
  order_.clear();
  for (std::uint32_t node = 0; node < n_node; ++node) {
    if (is_found_[node] == 0) NumberComponent(node);
  }
}

void ReverseCuthillMckee::FindNeighbours(std::uint32_t n_node, std::span<const std::uint32_t> senders,
                                         std::span<const std::uint32_t> receivers) {
  MakeRoom(begins_, std::size_t{n_node} + 1);
  begins_.assign(std::size_t{n_node} + 1, 0);
  for (std::size_t e = 0; e < senders.size(); ++e) {
    if (senders[e] == receivers[e]) continue;
    ++begins_[senders[e] + 1];
    ++begins_[receivers[e] + 1];
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  MakeRoom(neighbours_, begins_.back());
  neighbours_.resize(begins_.back());
  MakeRoom(degrees_, n_node);
  degrees_.assign(n_node, 0);
  for (std::size_t e = 0; e < senders.size(); ++e) {
    const std::uint32_t a = senders[e], b = receivers[e];
    if (a == b) continue;
    neighbours_[begins_[a] + degrees_[a]++] = b;
    neighbours_[begins_[b] + degrees_[b]++] = a;
  }
  for (std::uint32_t node = 0; node < n_node; ++node) {
    const std::span<std::uint32_t> found = NeighboursOf(node);
    std::sort(found.begin(), found.end());
    degrees_[node] = static_cast<std::uint32_t>(std::unique(found.begin(), found.end()) - found.begin());
  }
}

void ReverseCuthillMckee::SortByDegree(std::uint32_t node) {
  const std::span<std::uint32_t> neighbours = NeighboursOf(node);
  std::sort(neighbours.begin(), neighbours.end(),
            [this](std::uint32_t a, std::uint32_t b) { return ComesBefore(a, b); });
}

std::span<std::uint32_t> ReverseCuthillMckee::NeighboursOf(std::uint32_t node) {
  return std::span(neighbours_).subspan(begins_[node], degrees_[node]);
}

void ReverseCuthillMckee::NumberComponent(std::uint32_t member) {
  const std::size_t begin = order_.size();
  Search(member, begin);
  Levels levels = Search(LeastDegree(begin), begin);
  for (int starts = 0; starts < kMaxStarts; ++starts) {
    const Levels farther = Search(LeastDegree(levels.last), begin);
    if (farther.depth <= levels.depth) break;
    levels = farther;
  }
  for (std::size_t at = begin; at < order_.size(); ++at) is_found_[order_[at]] = 1;
  std::reverse(order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.end());
}

ReverseCuthillMckee::Levels ReverseCuthillMckee::Search(std::uint32_t root, std::size_t begin) {
  order_.resize(begin);
  order_.push_back(root);
  is_found_[root] = 1;
  Levels levels{.depth = 0, .last = begin};
  while (true) {
    const std::size_t end = order_.size();
    for (std::size_t at = levels.last; at < end; ++at) {
      for (const std::uint32_t neighbour : NeighboursOf(order_[at])) {
        if (is_found_[neighbour] != 0) continue;
        is_found_[neighbour] = 1;
        order_.push_back(neighbour);
      }
    }
    if (order_.size() == end) break;
    levels = {.depth = levels.depth + 1, .last = end};
  }
  for (std::size_t at = begin; at < order_.size(); ++at) is_found_[order_[at]] = 0;
  return levels;
}

std::uint32_t ReverseCuthillMckee::LeastDegree(std::size_t begin) const {
  return *std::min_element(order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.end(),
                           [this](std::uint32_t a, std::uint32_t b) { return ComesBefore(a, b); });
}

std::uint64_t ReverseCuthillMckee::memory_bytes() const {
  const std::uint64_t indices = degrees_.capacity() + neighbours_.capacity() + order_.capacity();
  return begins_.capacity() * sizeof(std::size_t) + indices * sizeof(std::uint32_t) + is_found_.capacity();
}

}  // namespace packtrain::edges
