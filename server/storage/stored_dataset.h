// What `meta` says of a data set: entries of `dataset/` and `deleted/` (key_schema.h).
#ifndef PACKTRAIN_SERVER_STORAGE_STORED_DATASET_H_
#define PACKTRAIN_SERVER_STORAGE_STORED_DATASET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/storage/graph_database.h"
#include "server/storage/seal.h"

namespace packtrain::storage {

// The value of an entry.
struct StoredDataset {
  std::uint64_t storage_id = 0;
  v1::Dataset description;
};

std::string EncodeStorageId(std::uint64_t id);
std::string Encode(const StoredDataset& stored);

// Each of these: DATA_LOSS where an entry is corrupt.

absl::StatusOr<StoredDataset> DecodeDataset(std::string_view value);

// The entry of a key; none where there is no such key.
absl::StatusOr<std::optional<StoredDataset>> FindStored(const rocks::Database& database, std::string_view key);
// The same of a version that is not deleted.
absl::StatusOr<std::optional<StoredDataset>> FindVersion(const rocks::Database& database, std::string_view name,
                                                         std::string_view version);
// Every entry whose key begins with `prefix`, which is kDatasetPrefix or kDeletedPrefix and more.
absl::StatusOr<std::vector<StoredDataset>> ScanStored(const rocks::Database& database, std::string_view prefix);
// What GraphStore::Versions answers, with their places.
absl::StatusOr<std::vector<StoredDataset>> FindVersions(const rocks::Database& database,
                                                        const DatasetReference& reference);

// Where graphs of this content are; none where nobody has sealed it.
absl::StatusOr<std::optional<std::uint64_t>> FindContent(const rocks::Database& database,
                                                         std::string_view hash);

std::vector<v1::Dataset> DescriptionsOf(const std::vector<StoredDataset>& stored);
bool WasImportedBefore(const StoredDataset& a, const StoredDataset& b);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_STORED_DATASET_H_
