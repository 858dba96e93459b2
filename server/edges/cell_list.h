// Nodes sorted into cells of space, so that the nodes near a place are found without looking at all of them.
#ifndef PACKTRAIN_SERVER_EDGES_CELL_LIST_H_
#define PACKTRAIN_SERVER_EDGES_CELL_LIST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/edges/squared_distance.h"

namespace packtrain::edges {

// Sorts one graph after another and reuses its memory. Used by one thread.
class CellList {
 public:
  // Makes cells that are at least `width` angstrom wide, and wider where there would be more than about two
  // cells for each node. Returns their width. Coordinates must be finite; at least one node.
  double Sort(std::span<const Point> nodes, double width);
  // Of memory that it holds for each node of the largest graph.
  static constexpr std::uint64_t kBytesOfANode = 3 * sizeof(std::uint32_t);

  // Adds to `found` every node with a SquaredDistance to `place` of at most CountOf(radius squared), and other
  // nodes of the cells around, in any order. Returns whether these are all nodes of the graph.
  bool FindAround(const Point& place, double radius, std::vector<std::uint32_t>& found) const;

 private:
  struct Axis {
    double low = 0;
    double cells_per_angstrom = 0;
    std::uint32_t cells = 1;

    // Ascends with `at`; values outside belong to the first or last cell.
    std::uint32_t CellOf(double at) const;
  };

  std::size_t CellOf(const Point& place) const;

  std::array<Axis, 3> axes_;
  std::vector<std::uint32_t> begins_;  // in nodes_, by cell, and the end
  std::vector<std::uint32_t> nodes_;   // by cell
};

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_CELL_LIST_H_
