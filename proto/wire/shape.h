// Counts of graphs, nodes and edges.
#ifndef PACKTRAIN_PROTO_WIRE_SHAPE_H_
#define PACKTRAIN_PROTO_WIRE_SHAPE_H_

#include <compare>
#include <cstdint>

namespace packtrain::wire {

// Most node or edge slots of a batch: receivers number them by int32.
inline constexpr std::uint64_t kMaxSlots = 0x7fffffff;

// What a batch holds, or the slots that it is padded to. Ordered by its members, from the first.
struct Shape {
  std::uint32_t graphs = 0;
  std::uint32_t nodes = 0;
  std::uint32_t edges = 0;
  // Of a supergraph's slots: node slots of a block, of which `nodes` is a multiple; else 0.
  std::uint32_t block_nodes = 0;
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_SHAPE_H_
