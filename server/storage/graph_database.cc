#include "server/storage/graph_database.h"

#include <limits>
#include <optional>

#include "proto/base/status_macros.h"
#include "server/storage/key_schema.h"

namespace packtrain::storage {
namespace {

// Coordinates and targets hardly shrink, and reads would pay for it: nothing is compressed. Graphs are read at
// random and are below 1 kB: of a larger block most is bytes that nobody asked for.
rocks::DatabaseLayout Layout(std::size_t block_cache_bytes) {
  return {.families = {{.name = "meta", .random_reads = true},
                       {.name = "graphs", .random_reads = true, .ingested = true, .scanned_once = true},
                       {.name = "sizes", .random_reads = true, .ingested = true}},
          .block_cache_bytes = block_cache_bytes};
}

}  // namespace

absl::StatusOr<std::shared_ptr<rocks::Database>> OpenGraphDatabase(const std::filesystem::path& folder,
                                                                   std::size_t block_cache_bytes,
                                                                   const rocks::DatabaseOptions& options) {
  return rocks::Database::Open(folder, Layout(block_cache_bytes), options);
}

absl::StatusOr<std::shared_ptr<const rocks::Database>> OpenGraphDatabaseForCheck(
    const std::filesystem::path& folder) {
  return rocks::Database::OpenForCheck(folder, Layout(kDefaultBlockCacheBytes));
}

absl::Status WriteMeta(rocks::Database& database,
                       const std::vector<std::pair<std::string, std::string>>& entries,
                       const std::vector<std::string>& removed) {
  std::vector<rocks::Change> changes;
  changes.reserve(removed.size() + entries.size());
  for (const std::string& key : removed) changes.push_back({Family::kMeta, key, std::nullopt});
  for (const auto& [key, value] : entries) changes.push_back({Family::kMeta, key, value});
  return database.Write(changes, rocks::Durability::kFile);
}

absl::StatusOr<std::vector<std::uint64_t>> StorageIds(const rocks::Database& database, Family family) {
  std::vector<std::uint64_t> ids;
  const auto take = [&ids](std::string_view key) -> absl::StatusOr<std::optional<std::string>> {
    const std::optional<std::uint64_t> id = StorageIdOf(key);
    if (!id) return absl::DataLossError("the store holds a key that is too short");
    ids.push_back(*id);
    if (*id == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    return std::string(StorageKey(*id + 1, 0).view());
  };
  ABSL_RETURN_IF_ERROR(database.SkipScan(family, "", take));
  return ids;
}

absl::Status DropStorage(rocks::Database& database, std::uint64_t storage_id) {
  const StorageKey begin(storage_id, 0), end(storage_id + 1, 0);
  for (const Family family : {Family::kGraphs, Family::kSizes}) {
    ABSL_RETURN_IF_ERROR(database.DropRange(family, begin.view(), end.view()));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::storage
