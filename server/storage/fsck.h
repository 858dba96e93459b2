// Reads a store of graphs whole and names what is corrupt.
#ifndef PACKTRAIN_SERVER_STORAGE_FSCK_H_
#define PACKTRAIN_SERVER_STORAGE_FSCK_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/check_report.h"
#include "server/storage/graph_store.h"
#include "server/storage/rocks_graph_store.h"

namespace packtrain::storage {

// The list of data sets, and each version of each. What is corrupt is told and is no failure; of one data set's
// graphs at most 1,000 are named. `report` ends the check where it fails.

// Of a store that may be in use.
absl::Status Fsck(RocksGraphStore& store, rocks::CheckReport& report);
// Of a database that was opened for a check, and of the file that lists what was sealed (sealed_list.h), if
// there is one.
absl::Status Fsck(const std::shared_ptr<const rocks::Database>& database,
                  const std::filesystem::path& sealed_file, rocks::CheckReport& report);

// What the size index has of each graph beside its nodes and edges.
struct Bandwidths {
  std::vector<std::uint32_t> stored;   // of the nodes as they are numbered
  std::vector<std::uint32_t> as_read;  // as they were in the source; empty where they are not renumbered
};

// One data set.
absl::Status FsckDataset(const Dataset& dataset, const absl::StatusOr<Bandwidths>& bandwidths,
                         rocks::CheckReport& report);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_FSCK_H_
