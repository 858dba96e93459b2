// The check of all that a server stores.
#ifndef PACKTRAIN_SERVER_SERVING_STORE_CHECK_H_
#define PACKTRAIN_SERVER_SERVING_STORE_CHECK_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "packtrain/v1/admin.pb.h"
#include "server/runs/rocks_run_store.h"
#include "server/storage/rocks_graph_store.h"

namespace packtrain::serving {

// Adds to `summary` what was read and found; findings and progress go to `sink`, whose failure ends the check.
using StoreCheck = std::function<absl::Status(
    v1::FsckSummary& summary, absl::FunctionRef<absl::Status(const v1::FsckResponse& event)> sink)>;

// Files of both stores, then graphs, then runs. Both are borrowed.
StoreCheck CheckOf(storage::RocksGraphStore& graphs, runs::RocksRunStore& runs);

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_STORE_CHECK_H_
