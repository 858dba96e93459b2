// Keys and values of the sealed-graph database, like a file format. Format 1.
//
// Column family `graphs`: the records (graph_record.h).
//   key    storage id, u64 big-endian; graph index, u64 big-endian
//   value  one record
// Column family `sizes`: what a data set holds in memory of each graph.
//   key    storage id, u64 big-endian; chunk number, u64 big-endian
//   value  arrays of u32 little-endian, end to end, of the graphs from chunk number * kSizesPerChunk on, at
//   most
//          kSizesPerChunk of them: n_node, n_edge, bandwidth; and, where the schema says `renumbered`, the
//          bandwidth of the nodes as they were read
// Column family `meta`: what exists. Keys are text, a NAME holds no '@' and a VERSION no '/'.
//   format             "1"
//   content/HASH       storage id, u64 big-endian, of the graphs whose content has this hash
//   dataset/NAME@VERSION  storage id, u64 big-endian; v1::Dataset, serialized
//   deleted/NAME@VERSION  as dataset/: deleted, and not reclaimed yet
//   name/NAME          the version that a bare NAME means
//   split/VERSION/SPLIT   graph indices, u32 little-endian, ascending
//
// A storage id stands for one sequence of graphs, sealed once, and is shared by every version with the same
// content. Graphs and sizes whose storage id no `content/` entry names were never published. Big-endian
// numbers sort as numbers, so the graphs of a storage id lie together in index order.
#ifndef PACKTRAIN_SERVER_STORAGE_KEY_SCHEMA_H_
#define PACKTRAIN_SERVER_STORAGE_KEY_SCHEMA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace packtrain::storage {

inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kStoreFormat = "1";
inline constexpr std::string_view kContentPrefix = "content/";
inline constexpr std::string_view kDatasetPrefix = "dataset/";
inline constexpr std::string_view kDeletedPrefix = "deleted/";
inline constexpr std::string_view kNamePrefix = "name/";
inline constexpr std::string_view kSplitPrefix = "split/";

inline constexpr std::uint64_t kSizesPerChunk = 1 << 16;

// (storage id, graph index) or (storage id, chunk number).
class StorageKey {
 public:
  StorageKey(std::uint64_t storage_id, std::uint64_t index);
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }
  // What all keys of the storage id begin with.
  std::string_view prefix() const { return view().substr(0, 8); }

 private:
  std::array<char, 16> bytes_;
};

// The storage id of a key of `graphs` or `sizes`; none where the key is too short.
std::optional<std::uint64_t> StorageIdOf(std::string_view key);

std::string ContentKey(std::string_view hash);
std::string DatasetKey(std::string_view name, std::string_view version);
std::string DeletedKey(std::string_view name, std::string_view version);
std::string NameKey(std::string_view name);
std::string SplitKey(std::string_view version, std::string_view split);

// An array of u32 as a value holds it, and back, appended to what is there.
std::string IndexBytes(std::span<const std::uint32_t> indices);
void AppendIndices(std::string_view bytes, std::vector<std::uint32_t>& to);

// Arrays of a value of `sizes`.
inline constexpr std::uint64_t SizeArrays(bool renumbered) { return renumbered ? 4 : 3; }

// Chunks of `sizes` of a data set of so many graphs, and the graphs of one of them.
std::uint64_t ChunksOf(std::uint64_t graphs);
std::uint64_t GraphsOfChunk(std::uint64_t graphs, std::uint64_t chunk);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_KEY_SCHEMA_H_
