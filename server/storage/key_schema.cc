#include "server/storage/key_schema.h"

#include <span>

namespace packtrain::storage {
namespace {

void WriteBigEndian(std::uint64_t number, std::span<char, 8> to) {
  for (int k = 7; k >= 0; --k) {
    to[static_cast<std::size_t>(k)] = static_cast<char>(number & 0xff);
    number >>= 8;
  }
}

std::string Join(std::string_view a, std::string_view b) { return std::string(a).append(b); }

}  // namespace

StorageKey::StorageKey(std::uint64_t storage_id, std::uint64_t index) {
  const std::span<char, 16> bytes(bytes_);
  WriteBigEndian(storage_id, bytes.first<8>());
  WriteBigEndian(index, bytes.last<8>());
}

std::optional<std::uint64_t> StorageIdOf(std::string_view key) { return DecodeBigEndian(key); }

std::string ContentKey(std::string_view hash) { return Join(kContentPrefix, hash); }

std::string DatasetKey(std::string_view name, std::string_view version) {
  return Join(kDatasetPrefix, name).append("@").append(version);
}

std::string NameKey(std::string_view name) { return Join(kNamePrefix, name); }

std::string SplitKey(std::string_view version, std::string_view split) {
  return Join("split/", version).append("/").append(split);
}

std::string EncodeBigEndian(std::uint64_t number) {
  std::string bytes(8, '\0');
  WriteBigEndian(number, std::span<char, 8>(bytes.data(), 8));
  return bytes;
}

std::optional<std::uint64_t> DecodeBigEndian(std::string_view bytes) {
  if (bytes.size() < 8) return std::nullopt;
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, 8)) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

}  // namespace packtrain::storage
