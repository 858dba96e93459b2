// Reads a store of graphs whole and names what is damaged.
#ifndef PACKTRAIN_SERVER_STORAGE_FSCK_H_
#define PACKTRAIN_SERVER_STORAGE_FSCK_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "packtrain/v1/admin.pb.h"
#include "server/storage/graph_store.h"
#include "server/storage/rocks_graph_store.h"

namespace packtrain::storage {

// Takes a finding or a progress message; one that fails ends the check.
using FsckSink = absl::FunctionRef<absl::Status(const v1::FsckResponse& event)>;

// Each version of each data set. Adds to `summary` what was read and found. What is damaged goes to
// `sink` and is no failure; of one data set's graphs at most 1,000 are named. May run beside all other use.
absl::Status Fsck(RocksGraphStore& store, v1::FsckSummary& summary, FsckSink sink);

// One data set, `reference` being its NAME@VERSION.
absl::Status FsckDataset(const Dataset& dataset, const std::string& reference, v1::FsckSummary& summary,
                         FsckSink sink);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_FSCK_H_
