// The graphs that wait to be packed.
#ifndef PACKTRAIN_SERVER_BATCHING_LOOKAHEAD_WINDOW_H_
#define PACKTRAIN_SERVER_BATCHING_LOOKAHEAD_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/batching/padding_budget.h"

namespace packtrain::batching {

// Up to `capacity` graphs, the oldest at position 0, with one array for each quantity, which a search walks
// from end to end. A graph's value says how much of a batch it fills: n*E + e*N, less its lowest bits where N*E
// is above 2^29, so that a value, and the sum of two graphs' that fit together, stays below 2^30.
// Used by one thread.
class LookaheadWindow {
 public:
  // Nodes and edges for which a batch still has room.
  struct Room {
    std::int32_t nodes = 0;
    std::int32_t edges = 0;
  };
  struct Waiting {
    std::uint32_t graph = 0;
    std::int32_t n_node = 0;
    std::int32_t n_edge = 0;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  // Positions of a graph, or of a pair with `first` < `second`.
  struct Fit {
    std::size_t first = kNone;
    std::size_t second = kNone;
  };

  LookaheadWindow(const PaddingBudget& limits, std::size_t capacity);

  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool full() const { return size() == capacity_; }

  // Adds a graph within the limits as the youngest, unless full().
  void Add(std::uint32_t graph, std::uint32_t n_node, std::uint32_t n_edge);
  // Takes out the graph at a position. Those before it keep their positions, those behind move up.
  Waiting Take(std::size_t position);

  // The position of the oldest graph that fits, or kNone.
  std::size_t OldestFit(const Room& room) const;
  // The graph of the largest value that fits, ties: the oldest; kNone where none does.
  Fit BestGraph(const Room& room) const;
  // As BestGraph, or the pair that fits with a larger value, ties: the oldest `first`, then the oldest
  // `second`; `first` is below `depth`.
  Fit BestGraphOrPair(const Room& room, std::size_t depth) const;

 private:
  bool Fits(std::size_t position, const Room& room) const {
    return n_node_[begin_ + position] <= room.nodes && n_edge_[begin_ + position] <= room.edges;
  }
  Room Without(const Room& room, std::size_t position) const {
    return {room.nodes - n_node_[begin_ + position], room.edges - n_edge_[begin_ + position]};
  }
  // Of those that fit at `from` or behind: the largest value, or -1.
  std::int32_t LargestValue(std::size_t from, const Room& room) const;
  // The oldest that fits, at `from` or behind, with this value.
  std::size_t Find(std::int32_t value, std::size_t from, const Room& room) const;
  void MoveToFront();

  const PaddingBudget limits_;
  const std::size_t capacity_;
  int value_shift_ = 0;
  // The window is [begin_, end_) of each array and slides up.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<std::uint32_t> graph_;
  std::vector<std::int32_t> n_node_;
  std::vector<std::int32_t> n_edge_;
  std::vector<std::int32_t> value_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_LOOKAHEAD_WINDOW_H_
