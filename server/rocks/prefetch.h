// Values asked of memory before they are read: keys lie in no order, and the processor cannot guess the
// next.
#ifndef PACKTRAIN_SERVER_ROCKS_PREFETCH_H_
#define PACKTRAIN_SERVER_ROCKS_PREFETCH_H_

#include <algorithm>
#include <cstddef>
#include <span>

namespace packtrain::rocks {

// How many values ahead of the one that is read.
inline constexpr std::size_t kValuesAhead = 8;
// What one prefetch brings; and the most of one value: the processor sees by itself where a longer one goes.
inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kPrefetchedBytes = 2 << 10;

// Inlined by force: GCC takes a call that does nothing but prefetch for one without effect, and drops it.
[[gnu::always_inline]] inline void Prefetch(std::span<const std::byte> value) {
  const std::size_t bytes = std::min(value.size(), kPrefetchedBytes);
  for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(value.data() + at);
}

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_PREFETCH_H_
