// Counts of graphs, nodes and edges.
#ifndef PACKTRAIN_SERVER_BATCHING_SHAPE_H_
#define PACKTRAIN_SERVER_BATCHING_SHAPE_H_

#include <cstdint>
#include <tuple>

namespace packtrain::batching {

// What a batch holds, or the slots that it is padded to.
struct Shape {
  std::uint32_t graphs = 0;
  std::uint32_t nodes = 0;
  std::uint32_t edges = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
  friend bool operator<(const Shape& a, const Shape& b) {
    return std::tie(a.graphs, a.nodes, a.edges) < std::tie(b.graphs, b.nodes, b.edges);
  }
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SHAPE_H_
