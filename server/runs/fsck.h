// Reads a store of runs whole and names what is corrupt.
#ifndef PACKTRAIN_SERVER_RUNS_FSCK_H_
#define PACKTRAIN_SERVER_RUNS_FSCK_H_

#include "absl/status/status.h"
#include "server/rocks/check_report.h"
#include "server/runs/run_database.h"

namespace packtrain::runs {

// Decodes each row of each run, and finds rows of runs that are not there. What is corrupt is reported by run
// and sort of rows and is no failure; `report` ends the check where it fails. May run beside all other use.
absl::Status Fsck(const rocks::Database& database, rocks::CheckReport& report);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_FSCK_H_
