// Splits the graphs of one step over its ranks, so that all ranks cost about the same.
#ifndef PACKTRAIN_SERVER_BATCHING_STEP_SPLIT_H_
#define PACKTRAIN_SERVER_BATCHING_STEP_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace packtrain::batching {

// The smallest of a set of keys and its owner (ties: the lowest owner), kept in a tournament tree: setting a
// key takes one comparison a level.
class LeastKey {
 public:
  void Reset(std::span<const std::uint64_t> keys);
  void Set(std::uint32_t owner, std::uint64_t key);
  std::uint32_t owner() const { return nodes_[1].owner; }

 private:
  struct Node {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint32_t owner = 0;
  };
  void Play(std::size_t node);

  std::size_t leaves_ = 1;
  std::vector<Node> nodes_;  // the root is 1, the children of k are 2k and 2k + 1
};

// Longest first (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969): graphs in descending order of
// cost (ties: the earlier one) go to the rank that costs least so far and has room (ties: the lowest). Then
// graphs change places in pairs between the ranks that cost most and least (ties: the lowest): each time the
// pair that evens the two out best (ties: the one with the longer graphs), until no pair does, or until
// kSwapsPerRank pairs a rank have changed places, which bounds the time. Reuses its memory from step to step.
// Used by one thread.
class StepSplit {
 public:
  static constexpr std::size_t kSwapsPerRank = 16;

  // At most `max_graphs` graphs to a rank.
  explicit StepSplit(std::uint32_t max_graphs) : max_graphs_(max_graphs) {}

  // The rank of each graph, by the graphs' costs, each below 2^53; no more graphs than max_graphs * ranks. If
  // there are fewer graphs than ranks, the last ranks get none. Valid until the next call.
  std::span<const std::uint32_t> RanksOf(std::span<const std::uint64_t> costs, std::uint32_t ranks);

 private:
  struct Item {
    std::uint64_t cost = 0;
    std::uint32_t position = 0;  // in the step
  };

  // The graphs of a rank, longest first.
  std::span<Item> Row(std::uint32_t rank) { return std::span(rows_).subspan(begins_[rank], counts_[rank]); }
  void SortByCost(std::span<const std::uint64_t> costs);
  void DealLongestFirst(std::size_t ranks);
  void Deal(const Item& item, std::uint32_t rank);
  void LayOutRows();
  void SwapPairs();
  bool SwapBestPair(std::uint32_t heaviest, std::uint32_t lightest);

  const std::uint32_t max_graphs_;
  std::vector<Item> items_;             // longest first
  std::vector<std::uint32_t> rank_of_;  // by position
  std::vector<std::uint64_t> loads_;    // by rank
  std::vector<std::uint32_t> counts_;   // by rank
  std::vector<std::uint32_t> begins_;   // by rank, in rows_
  std::vector<Item> rows_;
  std::vector<std::uint64_t> keys_;
  LeastKey lightest_;  // the rank that costs least, of those with room while graphs are assigned
  LeastKey heaviest_;  // the rank that costs most; its key is the complement of its cost
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_STEP_SPLIT_H_
