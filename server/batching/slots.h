// How counts round up to slots, and how many slots there may be.
#ifndef PACKTRAIN_SERVER_BATCHING_SLOTS_H_
#define PACKTRAIN_SERVER_BATCHING_SLOTS_H_

#include <bit>
#include <cstdint>
#include <tuple>

namespace packtrain::batching {

// Most node or edge slots of a batch: receivers number them by int32.
inline constexpr std::uint64_t kMaxSlots = 0x7fffffff;

// Most real graphs of a batch. Keeps every product of a graph count and a 32-bit size within 64 bits.
inline constexpr std::uint32_t kMaxBatchGraphs = 1u << 24;

// Node and edge slots, of a shape or as a batch needs them. Each at most kMaxSlots.
struct SlotPair {
  std::uint32_t nodes = 0;
  std::uint32_t edges = 0;

  bool Holds(const SlotPair& need) const { return need.nodes <= nodes && need.edges <= edges; }
  friend bool operator==(const SlotPair&, const SlotPair&) = default;
  friend bool operator<(const SlotPair& a, const SlotPair& b) {
    return std::tie(a.nodes, a.edges) < std::tie(b.nodes, b.edges);
  }
};

// Smallest whole number that is >= v / by; v + by below 2^64.
constexpr std::uint64_t DivideUp(std::uint64_t v, std::uint64_t by) { return (v + by - 1) / by; }

// Smallest multiple of 8 that is >= v.
constexpr std::uint64_t UpTo8(std::uint64_t v) { return DivideUp(v, 8) * 8; }

// Smallest multiple of 64 that is >= v.
constexpr std::uint64_t UpTo64(std::uint64_t v) { return DivideUp(v, 64) * 64; }

// Smallest multiple of 64 that is > v.
constexpr std::uint64_t NextMultipleOf64(std::uint64_t v) { return (v / 64 + 1) * 64; }

// Smallest power of two that is >= max(v, 2); v at most 2^63.
constexpr std::uint64_t UpToPowerOf2(std::uint64_t v) { return v <= 2 ? 2 : std::bit_ceil(v); }

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SLOTS_H_
