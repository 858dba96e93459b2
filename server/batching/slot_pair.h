// Node and edge slots, apart from graph slots.
#ifndef PACKTRAIN_SERVER_BATCHING_SLOT_PAIR_H_
#define PACKTRAIN_SERVER_BATCHING_SLOT_PAIR_H_

#include <compare>
#include <cstdint>

namespace packtrain::batching {

// Of a shape, or as a batch needs them. Each at most wire::kMaxSlots.
struct SlotPair {
  std::uint32_t nodes = 0;
  std::uint32_t edges = 0;

  bool Holds(const SlotPair& need) const { return need.nodes <= nodes && need.edges <= edges; }
  friend auto operator<=>(const SlotPair&, const SlotPair&) = default;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SLOT_PAIR_H_
