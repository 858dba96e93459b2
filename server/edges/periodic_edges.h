// Edges between nodes that are near each other in space where the structure repeats: an edge begins in an image
// of its sender, and says in which one.
//
//   WorkingMemory memory;
//   PeriodicEdges builder(spec, memory);  // of "knn:12"
//   ABSL_RETURN_IF_ERROR(builder.Build(nodes, lattice, max_edges));
//   Store(builder.edges().senders, builder.edges().receivers, builder.shifts());
#ifndef PACKTRAIN_SERVER_EDGES_PERIODIC_EDGES_H_
#define PACKTRAIN_SERVER_EDGES_PERIODIC_EDGES_H_

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/wire/edge_spec.h"
#include "server/edges/full.h"
#include "server/edges/image_list.h"
#include "server/edges/lattice.h"
#include "server/edges/working_memory.h"

namespace packtrain::edges {

// Into one node.
inline constexpr std::uint64_t kMaxPeriodicNeighbours = 1 << 20;

// Builds the edges of one structure after another and reuses its memory. Used by one thread.
//
// The neighbours of a receiver are the images of all nodes, of itself too, but for itself. They are ordered by
// (squared distance in counts of 1e-8 square angstrom, sender, shift), so that ties are broken in the same way
// everywhere; shifts compare by their first element, then the second, then the third. "knn:K" takes the first
// K. "radius:R" takes all whose count is at most that of R squared, "radius:R:MAX" the first MAX of them.
class PeriodicEdges {
 public:
  // `spec` names kRadius or kKnn. Memory comes out of `memory`, which is borrowed.
  PeriodicEdges(const wire::EdgeSpec& spec, WorkingMemory& memory) : spec_(spec), memory_(memory) {}

  // The edges by receiver, then sender, then shift, until the next call. Coordinates must be finite,
  // `max_edges` at most kMaxEdges. INVALID_ARGUMENT: more edges than that, or more than kMaxPeriodicNeighbours
  // into one node; the message names --edges. OUT_OF_RANGE: a node lies too far away (ImageList::Sort), or a
  // shift does not fit 32 bits. Otherwise codes as WorkingMemory::Take, and then there are fewer edges than
  // there should be.
  absl::Status Build(std::span<const Point> nodes, const Lattice& lattice, std::uint64_t max_edges);

  const EdgeList& edges() const { return edges_; }
  // Whole cells by which the image that an edge begins in is away from its sender, in the vectors of the cell.
  std::span<const std::array<std::int32_t, 3>> shifts() const { return shifts_; }

 private:
  struct Neighbour {
    double distance;  // SquaredDistanceOf
    std::uint32_t sender;
    Shift shift;
    bool operator<(const Neighbour& other) const;
  };

  // Angstrom: a radius within which a node has about as many neighbours as the spec asks for.
  double LikelyRadius(std::span<const Point> nodes, const Lattice& lattice) const;
  // Fills neighbours_ with all images within `radius`, in any order.
  absl::Status FindWithin(std::span<const Point> nodes, const Lattice& lattice, std::uint32_t receiver,
                          double radius, std::uint64_t most);
  // Fills neighbours_ with those that the spec asks for and, perhaps, farther ones.
  absl::Status Find(std::span<const Point> nodes, const Lattice& lattice, std::uint32_t receiver,
                    std::uint64_t most);
  // Reduces neighbours_ to those that the spec asks for, by sender and shift.
  void Select();
  absl::Status Append(std::uint32_t receiver);
  absl::Status TooMany(std::uint64_t nodes, std::uint64_t max_edges) const;

  const wire::EdgeSpec spec_;
  WorkingMemory& memory_;
  std::uint64_t node_bytes_ = 0;  // of memory_
  ImageList images_;
  double likely_radius_ = 0;
  std::vector<Neighbour> neighbours_;
  EdgeList edges_;
  std::vector<std::array<std::int32_t, 3>> shifts_;
};

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_PERIODIC_EDGES_H_
