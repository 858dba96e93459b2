// Numbers in keys: big-endian, so that bytes sort as numbers do.
#ifndef PACKTRAIN_SERVER_ROCKS_BIG_ENDIAN_H_
#define PACKTRAIN_SERVER_ROCKS_BIG_ENDIAN_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace packtrain::rocks {

template <std::unsigned_integral T>
constexpr std::array<char, sizeof(T)> BigEndian(T number) {
  std::array<char, sizeof(T)> bytes{};
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    bytes[k] = static_cast<char>(number >> 8 * (sizeof(T) - 1 - k));
  }
  return bytes;
}

template <std::unsigned_integral T>
void AppendBigEndian(T number, std::string& to) {
  const std::array<char, sizeof(T)> bytes = BigEndian(number);
  to.append(bytes.data(), bytes.size());
}

// The number that `bytes` begins with; none where they are too few.
template <std::unsigned_integral T>
constexpr std::optional<T> ParseBigEndian(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T number = 0;
  for (const char byte : bytes.substr(0, sizeof(T))) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_BIG_ENDIAN_H_
