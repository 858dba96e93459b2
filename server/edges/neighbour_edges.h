// Edges between nodes that are near each other in space, without periodic images. Built when graphs are stored,
// by radius or by number of neighbours.
//
//   WorkingMemory memory;
//   NeighbourEdges builder(spec, memory);  // of "radius:5"
//   for (const std::span<const Point> nodes : graphs) {
//     ABSL_RETURN_IF_ERROR(builder.Build(nodes));
//     Store(builder.edges().senders, builder.edges().receivers);
//   }
#ifndef PACKTRAIN_SERVER_EDGES_NEIGHBOUR_EDGES_H_
#define PACKTRAIN_SERVER_EDGES_NEIGHBOUR_EDGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/wire/edge_spec.h"
#include "server/edges/cell_list.h"
#include "server/edges/full.h"
#include "server/edges/squared_distance.h"
#include "server/edges/working_memory.h"

namespace packtrain::edges {

// Edges of one graph, counted in 32 bits with a sign, as frameworks index them.
inline constexpr std::uint64_t kMaxEdges = 0x7fffffff;

// Builds the edges of one graph after another and reuses its memory. Used by one thread.
//
// The neighbours of a receiver are ordered by (squared distance in counts of 1e-8 square angstrom, sender), so
// that ties are broken in the same way everywhere. "knn:K" takes the first min(K, n - 1). "radius:R" takes all
// whose count is at most that of R squared, "radius:R:MAX" the first MAX of them. No node is its own neighbour.
class NeighbourEdges {
 public:
  // `spec` names kRadius or kKnn. Memory comes out of `memory`, which is borrowed.
  NeighbourEdges(const wire::EdgeSpec& spec, WorkingMemory& memory) : spec_(spec), memory_(memory) {}

  // The edges by receiver, then sender, in edges() until the next call. Coordinates must be finite.
  // INVALID_ARGUMENT: more than `max_edges`; the message names --edges. Otherwise codes as WorkingMemory::Take,
  // and then there are fewer edges than there should be. Memory is linear in the nodes, and in the edges that
  // were found.
  absl::Status Build(std::span<const Point> nodes, std::uint64_t max_edges = kMaxEdges);

  const EdgeList& edges() const { return edges_; }

 private:
  struct Neighbour {
    double distance;  // SquaredDistance
    std::uint32_t sender;
    bool operator<(const Neighbour& other) const {
      return distance != other.distance ? distance < other.distance : sender < other.sender;
    }
  };

  // These fill neighbours_ with nodes around a receiver, in any order: all of them, those within a radius, and
  // those within one that is wide enough for spec_.neighbours.
  void FindAll(std::span<const Point> nodes, std::uint32_t receiver);
  // Returns whether it has looked at all nodes.
  bool FindWithin(std::span<const Point> nodes, std::uint32_t receiver, double radius);
  void FindNearest(std::span<const Point> nodes, std::uint32_t receiver);

  void Find(std::span<const Point> nodes, std::uint32_t receiver);
  // Reduces neighbours_ to those that the spec asks for, ordered by sender.
  void Select();
  absl::Status Append(std::uint32_t receiver);
  // Room for what a search finds, and for the cells.
  absl::Status MakeRoomFor(std::size_t nodes);

  const wire::EdgeSpec spec_;
  WorkingMemory& memory_;
  std::uint64_t node_bytes_ = 0;  // of memory_
  CellList cells_;
  double cell_width_ = 0;  // 0: the graph is too small for cells
  std::vector<std::uint32_t> candidates_;
  std::vector<Neighbour> neighbours_;
  EdgeList edges_;
};

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_NEIGHBOUR_EDGES_H_
