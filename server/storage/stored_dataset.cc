#include "server/storage/stored_dataset.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "server/rocks/big_endian.h"
#include "server/storage/key_schema.h"

namespace packtrain::storage {

absl::StatusOr<StoredDataset> DecodeDataset(std::string_view value) {
  StoredDataset stored;
  const std::optional<std::uint64_t> id = rocks::ParseBigEndian<std::uint64_t>(value);
  if (!id) return absl::DataLossError("a data set's description is damaged");
  stored.storage_id = *id;
  const std::string_view message = value.substr(8);
  if (!stored.description.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return absl::DataLossError("a data set's description is damaged");
  }
  return stored;
}

std::string EncodeStorageId(std::uint64_t id) {
  std::string bytes;
  rocks::AppendBigEndian(id, bytes);
  return bytes;
}

std::string Encode(const StoredDataset& stored) {
  return EncodeStorageId(stored.storage_id) + stored.description.SerializeAsString();
}

absl::StatusOr<std::optional<StoredDataset>> FindStored(const rocks::Database& database, std::string_view key) {
  ABSL_ASSIGN_OR_RETURN(const auto value, database.Get(Family::kMeta, key));
  if (!value.has_value()) return std::optional<StoredDataset>();
  ABSL_ASSIGN_OR_RETURN(StoredDataset stored, DecodeDataset(*value));
  return std::optional<StoredDataset>(std::move(stored));
}

absl::StatusOr<std::optional<StoredDataset>> FindVersion(const rocks::Database& database, std::string_view name,
                                                         std::string_view version) {
  return FindStored(database, DatasetKey(name, version));
}

// Every entry whose key begins with `prefix`, which is kDatasetPrefix or kDeletedPrefix and more.
absl::StatusOr<std::vector<StoredDataset>> ScanStored(const rocks::Database& database,
                                                      std::string_view prefix) {
  std::vector<StoredDataset> found;
  const absl::Status status =
      database.Scan(Family::kMeta, prefix, [&](std::string_view, std::string_view value) {
        absl::StatusOr<StoredDataset> stored = DecodeDataset(value);
        ABSL_RETURN_IF_ERROR(stored.status());
        found.push_back(*std::move(stored));
        return absl::OkStatus();
      });
  ABSL_RETURN_IF_ERROR(status);
  return found;
}

// What Versions answers, with their places.
absl::StatusOr<std::vector<StoredDataset>> FindVersions(const rocks::Database& database,
                                                        const DatasetReference& reference) {
  std::vector<StoredDataset> found;
  if (reference.version) {
    ABSL_ASSIGN_OR_RETURN(std::optional<StoredDataset> stored,
                          FindVersion(database, reference.name, *reference.version));
    if (stored.has_value()) found.push_back(*std::move(stored));
  } else {
    ABSL_ASSIGN_OR_RETURN(std::vector<StoredDataset> all, ScanStored(database, DatasetKey(reference.name, "")));
    found = std::move(all);
  }
  if (found.empty()) return NoSuchDataset(reference);
  return found;
}

std::vector<v1::Dataset> DescriptionsOf(const std::vector<StoredDataset>& stored) {
  std::vector<v1::Dataset> descriptions;
  descriptions.reserve(stored.size());
  for (const StoredDataset& one : stored) descriptions.push_back(one.description);
  return descriptions;
}

bool WasImportedBefore(const StoredDataset& a, const StoredDataset& b) {
  const auto rank = [](const v1::Dataset& dataset) {
    return std::pair(dataset.lineage().imported_at_ms(), std::string_view(dataset.version()));
  };
  return rank(a.description) < rank(b.description);
}

absl::StatusOr<std::optional<std::uint64_t>> FindContent(const rocks::Database& database,
                                                         std::string_view hash) {
  ABSL_ASSIGN_OR_RETURN(const auto value, database.Get(Family::kMeta, ContentKey(hash)));
  if (!value.has_value()) return std::optional<std::uint64_t>();
  return rocks::ParseBigEndian<std::uint64_t>(*value);
}

}  // namespace packtrain::storage
