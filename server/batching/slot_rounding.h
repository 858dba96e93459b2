// How counts round up to slots.
#ifndef PACKTRAIN_SERVER_BATCHING_SLOT_ROUNDING_H_
#define PACKTRAIN_SERVER_BATCHING_SLOT_ROUNDING_H_

#include <bit>
#include <cstdint>

namespace packtrain::batching {

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

#endif  // PACKTRAIN_SERVER_BATCHING_SLOT_ROUNDING_H_
