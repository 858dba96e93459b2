// CRC-32C (Castagnoli), as in RFC 3720.
#ifndef PACKTRAIN_PROTO_BASE_CRC32C_H_
#define PACKTRAIN_PROTO_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace packtrain::base {

// Continues `crc`, the checksum of the bytes before `bytes`; 0 before the first.
std::uint32_t ExtendCrc32c(std::uint32_t crc, std::span<const std::byte> bytes);

inline std::uint32_t Crc32c(std::span<const std::byte> bytes) { return ExtendCrc32c(0, bytes); }

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_CRC32C_H_
