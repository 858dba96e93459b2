#include "server/storage/reclaiming.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/rocks/big_endian.h"
#include "server/storage/key_schema.h"

namespace packtrain::storage {
namespace {

absl::StatusOr<absl::flat_hash_set<std::uint64_t>> PublishedIds(const rocks::Database& database) {
  absl::flat_hash_set<std::uint64_t> ids;
  const absl::Status status =
      database.Scan(Family::kMeta, kContentPrefix, [&](std::string_view, std::string_view value) {
        const std::optional<std::uint64_t> id = rocks::ParseBigEndian<std::uint64_t>(value);
        if (!id) return absl::DataLossError("a content entry of the store is damaged");
        ids.insert(*id);
        return absl::OkStatus();
      });
  ABSL_RETURN_IF_ERROR(status);
  return ids;
}

// The key of the content that lies under a storage id; empty where none does.
absl::StatusOr<std::string> ContentKeyOf(const rocks::Database& database, std::uint64_t storage_id) {
  std::string found;
  const absl::Status status =
      database.Scan(Family::kMeta, kContentPrefix, [&](std::string_view key, std::string_view value) {
        if (rocks::ParseBigEndian<std::uint64_t>(value) == storage_id) found = key;
        return absl::OkStatus();
      });
  ABSL_RETURN_IF_ERROR(status);
  return found;
}

}  // namespace

// Takes a deleted version out of `meta`, with all that no other version has, and then drops its graphs where
// none has them.
absl::Status DropDeleted(rocks::Database& database, const StoredDataset& stored) {
  const std::string& version = stored.description.version();
  std::vector<std::string> removed = {DeletedKey(stored.description.name(), version)};
  bool shares_graphs = false, shares_splits = false;
  for (const std::string_view prefix : {kDatasetPrefix, kDeletedPrefix}) {
    ABSL_ASSIGN_OR_RETURN(const std::vector<StoredDataset> others, ScanStored(database, prefix));
    for (const StoredDataset& other : others) {
      if (prefix == kDeletedPrefix && wire::FullName(other.description) == wire::FullName(stored.description))
        continue;
      shares_graphs = shares_graphs || other.storage_id == stored.storage_id;
      shares_splits = shares_splits || other.description.version() == version;
    }
  }
  if (!shares_splits) {
    for (const v1::Split& split : stored.description.splits())
      removed.push_back(SplitKey(version, split.name()));
  }
  if (!shares_graphs) {
    ABSL_ASSIGN_OR_RETURN(std::string content, ContentKeyOf(database, stored.storage_id));
    if (!content.empty()) removed.push_back(std::move(content));
  }
  ABSL_RETURN_IF_ERROR(WriteMeta(database, {}, removed));
  return shares_graphs ? absl::OkStatus() : DropStorage(database, stored.storage_id);
}

// Drops graphs and sizes that were never published, and returns the first storage id that was never used.
absl::StatusOr<std::uint64_t> DropUnpublished(rocks::Database& database) {
  ABSL_ASSIGN_OR_RETURN(const absl::flat_hash_set<std::uint64_t> published, PublishedIds(database));
  std::uint64_t next = 1;
  for (const std::uint64_t id : published) next = std::max(next, id + 1);
  for (const Family family : {Family::kGraphs, Family::kSizes}) {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> ids, StorageIds(database, family));
    for (const std::uint64_t id : ids) {
      next = std::max(next, id + 1);
      if (published.contains(id)) continue;
      ABSL_RETURN_IF_ERROR(DropStorage(database, id));
    }
  }
  return next;
}

}  // namespace packtrain::storage
