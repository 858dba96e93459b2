// Space that the database gives back: of what was deleted, and of what was never published.
#ifndef PACKTRAIN_SERVER_STORAGE_RECLAIMING_H_
#define PACKTRAIN_SERVER_STORAGE_RECLAIMING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/graph_database.h"
#include "server/storage/stored_dataset.h"

namespace packtrain::storage {

// Takes a deleted version out of `meta`, with all that no other version has, and then drops its graphs where
// none has them.
absl::Status DropDeleted(rocks::Database& database, const StoredDataset& stored);

// Drops graphs and sizes that were never published, and returns the first storage id that was never used.
absl::StatusOr<std::uint64_t> DropUnpublished(rocks::Database& database);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_RECLAIMING_H_
