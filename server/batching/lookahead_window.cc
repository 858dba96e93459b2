#include "server/batching/lookahead_window.h"

#include <algorithm>
#include <bit>

namespace packtrain::batching {
namespace {

constexpr int kValueBits = 30;
// Takes between two moves to the front of the arrays; a few kilobytes of them, that stay in the nearest cache.
constexpr std::size_t kSlide = 448;

int ValueShift(const PaddingBudget& limits) {
  const std::uint64_t full = 2 * std::uint64_t{limits.nodes} * limits.edges;
  return std::max(0, static_cast<int>(std::bit_width(full)) - kValueBits);
}

template <typename T>
void MoveUp(std::vector<T>& values, std::size_t begin, std::size_t end) {
  std::move_backward(values.data() + begin, values.data() + end, values.data() + end + 1);
}

template <typename T>
void MoveDown(std::vector<T>& values, std::size_t begin, std::size_t end) {
  std::move(values.data() + begin, values.data() + end, values.data());
}

}  // namespace

LookaheadWindow::LookaheadWindow(const PaddingBudget& limits, std::size_t capacity)
    : limits_(limits),
      capacity_(capacity),
      value_shift_(ValueShift(limits)),
      graph_(capacity + kSlide),
      n_node_(capacity + kSlide),
      n_edge_(capacity + kSlide),
      value_(capacity + kSlide) {}

void LookaheadWindow::Add(std::uint32_t graph, std::uint32_t n_node, std::uint32_t n_edge) {
  if (end_ == graph_.size()) MoveToFront();
  const std::uint64_t value = std::uint64_t{n_node} * limits_.edges + std::uint64_t{n_edge} * limits_.nodes;
  graph_[end_] = graph;
  n_node_[end_] = static_cast<std::int32_t>(n_node);
  n_edge_[end_] = static_cast<std::int32_t>(n_edge);
  value_[end_] = static_cast<std::int32_t>(value >> value_shift_);
  ++end_;
}

LookaheadWindow::Waiting LookaheadWindow::Take(std::size_t position) {
  const std::size_t at = begin_ + position;
  const Waiting taken = {graph_[at], n_node_[at], n_edge_[at]};
  if (position > 0) {
    MoveUp(graph_, begin_, at);
    MoveUp(n_node_, begin_, at);
    MoveUp(n_edge_, begin_, at);
    MoveUp(value_, begin_, at);
  }
  ++begin_;
  return taken;
}

std::size_t LookaheadWindow::OldestFit(const Room& room) const {
  for (std::size_t position = 0; position < size(); ++position) {
    if (Fits(position, room)) return position;
  }
  return kNone;
}

LookaheadWindow::Fit LookaheadWindow::BestGraph(const Room& room) const {
  const std::int32_t value = LargestValue(0, room);
  return value < 0 ? Fit() : Fit{Find(value, 0, room)};
}

LookaheadWindow::Fit LookaheadWindow::BestGraphOrPair(const Room& room, std::size_t depth) const {
  const std::int32_t alone = LargestValue(0, room);
  if (alone < 0) return {};
  std::int32_t best = alone;
  std::size_t first = kNone;
  for (std::size_t position = 0; position < std::min(depth, size()); ++position) {
    if (!Fits(position, room)) continue;
    const std::int32_t other = LargestValue(position + 1, Without(room, position));
    const std::int32_t value = value_[begin_ + position] + other;
    if (other < 0 || value <= best) continue;
    best = value;
    first = position;
  }
  if (first == kNone) return {Find(alone, 0, room)};
  return {first, Find(best - value_[begin_ + first], first + 1, Without(room, first))};
}

// Without branches, for the compiler to make vector instructions of it.
std::int32_t LookaheadWindow::LargestValue(std::size_t from, const Room& room) const {
  const std::int32_t* const n_node = n_node_.data();
  const std::int32_t* const n_edge = n_edge_.data();
  const std::int32_t* const values = value_.data();
  std::int32_t largest = -1;
  for (std::size_t at = begin_ + from; at < end_; ++at) {
    const bool fits = (n_node[at] <= room.nodes) & (n_edge[at] <= room.edges);
    const std::int32_t value = values[at];
    largest = std::max(largest, fits ? value : -1);
  }
  return largest;
}

std::size_t LookaheadWindow::Find(std::int32_t value, std::size_t from, const Room& room) const {
  while (value_[begin_ + from] != value || !Fits(from, room)) ++from;
  return from;
}

void LookaheadWindow::MoveToFront() {
  MoveDown(graph_, begin_, end_);
  MoveDown(n_node_, begin_, end_);
  MoveDown(n_edge_, begin_, end_);
  MoveDown(value_, begin_, end_);
  end_ -= begin_;
  begin_ = 0;
}

}  // namespace packtrain::batching
