#include "proto/wire/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace packtrain::wire {
namespace {

// crc32_iscsi takes its length as an int.
constexpr std::size_t kMaxCall = std::size_t{1} << 30;

std::uint32_t ExtendOnce(std::uint32_t crc, std::span<const std::byte> bytes) {
  // The library reads only, though its parameter is not const; it neither inverts at the start nor at the end.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~crc);
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

}  // namespace packtrain::wire
