// Reads a store of runs whole and names what is damaged.
#ifndef PACKTRAIN_SERVER_RUNS_FSCK_H_
#define PACKTRAIN_SERVER_RUNS_FSCK_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "packtrain/v1/admin.pb.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

// Decodes each row of each run. Adds to `summary` what was read and found; findings and progress go to `sink`,
// which ends the check where it fails. May run beside all other use.
absl::Status Fsck(const RunStore& store, v1::FsckSummary& summary,
                  absl::FunctionRef<absl::Status(const v1::FsckResponse& event)> sink);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_FSCK_H_
