// The database of sealed graphs: its column families, and what a store of graphs does with them that other
// stores do not. key_schema.h says what the families hold.
#ifndef PACKTRAIN_SERVER_STORAGE_GRAPH_DATABASE_H_
#define PACKTRAIN_SERVER_STORAGE_GRAPH_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/database.h"

namespace packtrain::storage {

enum class Family : std::uint8_t { kMeta, kGraphs, kSizes };

inline constexpr std::size_t kDefaultBlockCacheBytes = std::size_t{256} << 20;

// Codes as rocks::Database::Open.
absl::StatusOr<std::shared_ptr<rocks::Database>> OpenGraphDatabase(const std::filesystem::path& folder,
                                                                   std::size_t block_cache_bytes,
                                                                   const rocks::DatabaseOptions& options);
// As rocks::Database::OpenForCheck.
absl::StatusOr<std::shared_ptr<const rocks::Database>> OpenGraphDatabaseForCheck(
    const std::filesystem::path& folder);

// Writes to `meta`, and takes the keys of `removed` out of it; all or none, safe from corruption.
absl::Status WriteMeta(rocks::Database& database,
                       const std::vector<std::pair<std::string, std::string>>& entries,
                       const std::vector<std::string>& removed = {});

// Distinct storage ids of the keys of a family, ascending. Reads one key for each.
absl::StatusOr<std::vector<std::uint64_t>> StorageIds(const rocks::Database& database, Family family);

// Drops graphs and sizes of a storage id and gives their space back.
absl::Status DropStorage(rocks::Database& database, std::uint64_t storage_id);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_GRAPH_DATABASE_H_
