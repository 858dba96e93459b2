// Holds the list of data sets, `meta`, against itself and against what is stored (key_schema.h).
#ifndef PACKTRAIN_SERVER_STORAGE_INDEX_CHECK_H_
#define PACKTRAIN_SERVER_STORAGE_INDEX_CHECK_H_

#include <cstdint>
#include <vector>

#include "packtrain/v1/admin.pb.h"
#include "server/storage/graph_database.h"
#include "server/storage/stored_dataset.h"

namespace packtrain::storage {

struct IndexCheck {
  std::vector<StoredDataset> datasets;  // every version that is not deleted, as far as it can be read
  std::vector<v1::FsckFinding> findings;
  std::uint64_t unused = 0;  // storage ids with graphs or sizes that no content names
};

// Finds entries that cannot be read or are of no known form, names that lead to no version, versions without
// content or name, content and splits that belong to no version. Nothing may be published or reclaimed
// meanwhile.
IndexCheck CheckIndex(const rocks::Database& database);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_INDEX_CHECK_H_
