// The check of all that a server stores.
#ifndef PACKTRAIN_SERVER_NODE_STORE_CHECK_H_
#define PACKTRAIN_SERVER_NODE_STORE_CHECK_H_

#include <filesystem>
#include <functional>

#include "absl/status/status.h"
#include "server/rocks/check_report.h"
#include "server/runs/rocks_run_store.h"
#include "server/storage/rocks_graph_store.h"

namespace packtrain::node {

// Folders of the stores, in that of --data.
inline constexpr char kGraphsFolder[] = "graphs";
inline constexpr char kRunsFolder[] = "runs";

// Reports to `report`, and ends where that fails. A corrupt store is a finding, not a failure.
using StoreCheck = std::function<absl::Status(rocks::CheckReport& report)>;

// Files of both stores, then graphs, then runs. Both are borrowed, and may be in use.
StoreCheck CheckOf(storage::RocksGraphStore& graphs, runs::RocksRunStore& runs);

// The same of the stores in `data` that no server has open, also of those that none can open, and on a file
// system that cannot be written; changes nothing but the files LOCK, where it can. NOT_FOUND: there are none.
// FAILED_PRECONDITION: a server has them open; the message names its process.
absl::Status CheckFolder(const std::filesystem::path& data, rocks::CheckReport& report);

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_STORE_CHECK_H_
