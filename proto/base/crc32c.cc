#include "proto/base/crc32c.h"

#include <isa-l/crc.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>

namespace packtrain::base {
namespace {

// crc32_iscsi takes its length as an int.
constexpr std::size_t kMaxCall = std::size_t{1} << 30;

#if defined(__x86_64__)
// The library's code for AVX-512 leaves the upper halves of vector registers in use, and until they are cleared
// the processor makes SSE code, which is all that compilers write by default, wait for them: copying records
// took three times as long.
__attribute__((target("avx"))) void ClearUpperHalves() { _mm256_zeroupper(); }
#endif

void LeaveVectorCode() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) ClearUpperHalves();
#endif
}

std::uint32_t ExtendOnce(std::uint32_t crc, std::span<const std::byte> bytes) {
  // The library reads only, though its parameter is not const; it neither inverts at the start nor at the end.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  const std::uint32_t extended = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~crc);
  LeaveVectorCode();
  return extended;
}

}  // namespace

std::uint32_t ExtendCrc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size(), kMaxCall);
    crc = ExtendOnce(crc, bytes.first(n));
    bytes = bytes.subspan(n);
  }
  return crc;
}

}  // namespace packtrain::base
