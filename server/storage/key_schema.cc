#include "server/storage/key_schema.h"

#include <algorithm>

#include "proto/wire/full_name.h"
#include "server/rocks/big_endian.h"

namespace packtrain::storage {
namespace {

std::string Join(std::string_view a, std::string_view b) { return std::string(a).append(b); }

}  // namespace

StorageKey::StorageKey(std::uint64_t storage_id, std::uint64_t index) {
  const std::array<char, 8> halves[] = {rocks::BigEndian(storage_id), rocks::BigEndian(index)};
  std::copy(halves[1].begin(), halves[1].end(), std::copy(halves[0].begin(), halves[0].end(), bytes_.begin()));
}

std::optional<std::uint64_t> StorageIdOf(std::string_view key) {
  return rocks::ParseBigEndian<std::uint64_t>(key);
}

std::string ContentKey(std::string_view hash) { return Join(kContentPrefix, hash); }

std::string DatasetKey(std::string_view name, std::string_view version) {
  return Join(kDatasetPrefix, wire::FullName(name, version));
}

std::string DeletedKey(std::string_view name, std::string_view version) {
  return Join(kDeletedPrefix, wire::FullName(name, version));
}

std::string NameKey(std::string_view name) { return Join(kNamePrefix, name); }

std::string SplitKey(std::string_view version, std::string_view split) {
  return Join(kSplitPrefix, version).append("/").append(split);
}

std::string IndexBytes(std::span<const std::uint32_t> indices) {
  return std::string(reinterpret_cast<const char*>(indices.data()), indices.size_bytes());
}

void AppendIndices(std::string_view bytes, std::vector<std::uint32_t>& to) {
  const std::size_t before = to.size();
  to.resize(before + bytes.size() / sizeof(std::uint32_t));
  bytes.copy(reinterpret_cast<char*>(to.data() + before), bytes.size());
}

std::uint64_t ChunksOf(std::uint64_t graphs) { return (graphs + kSizesPerChunk - 1) / kSizesPerChunk; }

std::uint64_t GraphsOfChunk(std::uint64_t graphs, std::uint64_t chunk) {
  return std::min(kSizesPerChunk, graphs - chunk * kSizesPerChunk);
}

}  // namespace packtrain::storage
