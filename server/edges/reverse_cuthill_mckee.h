// Reverse Cuthill-McKee: numbers the nodes of a graph so that edges join nodes with near numbers.
//
// Sources: E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM 1969, reversed as
// A. George found better; A. George, J. W. H. Liu, "An implementation of a pseudoperipheral node finder", ACM
// TOMS 5(3), 1979.
#ifndef PACKTRAIN_SERVER_EDGES_REVERSE_CUTHILL_MCKEE_H_
#define PACKTRAIN_SERVER_EDGES_REVERSE_CUTHILL_MCKEE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace packtrain::edges {

// Numbers one graph after another and reuses its memory. Used by one thread.
//
// Two nodes are neighbours where an edge joins them in either direction; how often does not matter, nor do
// edges from a node to itself. The degree of a node is the number of its neighbours. The numbering follows from
// the edges alone, whatever their order:
//
// 1. Connected components follow each other by their lowest node; within each
// 2. a start is found: r is the node of least degree. x is the node of least degree among those farthest from
// r.
//    While some node is farther from x than x is from r, x becomes r and a new x is found, until there have
//    been kMaxStarts of them. The last x is the start.
// 3. From the start on, breadth first: each node's neighbours that have no place yet come by their degrees.
// 4. The order of the component is reversed.
//
// Of nodes of equal degree the one that comes first as read is taken. The numbering is this one also where the
// nodes as read have a smaller bandwidth. Time and memory are linear in nodes and edges, but for sorting the
// neighbours of each node.
class ReverseCuthillMckee {
 public:
  // Paths through a component that are searched for its start. Few graphs need more than four.
  static constexpr int kMaxStarts = 16;

  // Edge e joins senders[e] and receivers[e], both below `n_node`.
  void Number(std::uint32_t n_node, std::span<const std::uint32_t> senders,
              std::span<const std::uint32_t> receivers);

  // By number, the index of the node as read; of the last graph, until the next call.
  std::span<const std::uint32_t> nodes() const { return order_; }

  // Bytes of memory held.
  std::uint64_t memory_bytes() const;
  // Of these, for each node and each edge of the largest graphs so far, and for one node more.
  static constexpr std::uint64_t kBytesOfANode =
      sizeof(std::size_t) + 2 * sizeof(std::uint32_t) + sizeof(std::uint8_t);
  static constexpr std::uint64_t kBytesOfAnEdge = 2 * sizeof(std::uint32_t);

 private:
  // What a search found. Its nodes are in order_, from its begin to the end.
  struct Levels {
    std::uint32_t depth = 0;  // distance of the farthest nodes
    std::size_t last = 0;     // where these begin in order_
  };

  void FindNeighbours(std::uint32_t n_node, std::span<const std::uint32_t> senders,
                      std::span<const std::uint32_t> receivers);
  void SortByDegree(std::uint32_t node);
  std::span<std::uint32_t> NeighboursOf(std::uint32_t node);
  // By degree, then index.
  bool ComesBefore(std::uint32_t a, std::uint32_t b) const {
    return degrees_[a] != degrees_[b] ? degrees_[a] < degrees_[b] : a < b;
  }

  // Puts the component of `member`, which has no place yet, into order_.
  void NumberComponent(std::uint32_t member);
  // Replaces order_ from `begin` on by the component of `root`, breadth first.
  Levels Search(std::uint32_t root, std::size_t begin);
  // The node of least degree in order_ from `begin` on.
  std::uint32_t LeastDegree(std::size_t begin) const;

  std::vector<std::size_t> begins_;        // in neighbours_, by node, and the end
  std::vector<std::uint32_t> degrees_;     // by node: its neighbours
  std::vector<std::uint32_t> neighbours_;  // of each node, by degree, then index
  std::vector<std::uint8_t> is_found_;     // by node; 1: it is in order_
  std::vector<std::uint32_t> order_;
};

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_REVERSE_CUTHILL_MCKEE_H_
