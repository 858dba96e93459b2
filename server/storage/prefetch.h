// Records asked of memory before they are read: graphs lie in no order, and the processor cannot guess the
// next.
#ifndef PACKTRAIN_SERVER_STORAGE_PREFETCH_H_
#define PACKTRAIN_SERVER_STORAGE_PREFETCH_H_

#include <algorithm>
#include <cstddef>
#include <span>

namespace packtrain::storage {

// How many records ahead of the one that is read.
inline constexpr std::size_t kRecordsAhead = 8;
// What one prefetch brings; and the most of one record: the processor sees by itself where a longer one goes.
inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kPrefetchedBytes = 2 << 10;

// Inlined by force: GCC takes a call that does nothing but prefetch for one without effect, and drops it.
[[gnu::always_inline]] inline void Prefetch(std::span<const std::byte> record) {
  const std::size_t bytes = std::min(record.size(), kPrefetchedBytes);
  for (std::size_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(record.data() + at);
}

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_PREFETCH_H_
