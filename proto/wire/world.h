// The ranks that share an epoch.
#ifndef PACKTRAIN_PROTO_WIRE_WORLD_H_
#define PACKTRAIN_PROTO_WIRE_WORLD_H_

#include <compare>
#include <cstdint>
#include <vector>

namespace packtrain::wire {

// A part of an epoch that one number of ranks trained, from the epoch's beginning or the end of the segment
// before it.
struct Segment {
  std::uint32_t world_size = 1;
  std::uint64_t steps = 1;  // of each rank
  friend auto operator<=>(const Segment&, const Segment&) = default;
};

// The ranks that share an epoch: those of each segment in turn, then `size` ranks to its end.
struct World {
  std::uint32_t size = 1;
  std::vector<Segment> segments = {};
  friend auto operator<=>(const World&, const World&) = default;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_WORLD_H_
