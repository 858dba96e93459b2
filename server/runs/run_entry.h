// A run as its store holds it in memory.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_
#define PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "packtrain/v1/run.pb.h"
#include "proto/base/mutex.h"

namespace packtrain::runs {

// A run's dates: the date of its beginning, or of its last report before a restart, and what a clock that
// nobody sets says has passed since. So a run lasts as long as it lasted, whatever is done to the system's
// clock.
struct RunDates {
  std::int64_t DateAt(std::int64_t now_steady_ms) const { return date_ms + (now_steady_ms - steady_ms); }

  std::int64_t date_ms = 0;    // since 1970-01-01 UTC
  std::int64_t steady_ms = 0;  // the same moment by the steady clock
};

// What is held of each run for as long as it is stored: at most kMaxRunBytes (run_limits.h). Its attempts and
// keys are on the disk alone, and which of its steps are stored is in CoverageCache. Any number of threads may
// use it, each while it holds the mutex that guards what it uses.
struct RunEntry {
  RunEntry(v1::Run initial, std::uint64_t place, RunDates its_dates);

  // FAILED_PRECONDITION: the run is finished.
  absl::Status CheckTakesReports() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  std::size_t bytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  const std::string name;
  const std::uint64_t place;  // in the order in which runs began
  const RunDates dates;

  // Held by whoever changes the run, from reading what is there until the change is on disk: changes of a run
  // come one by one, and readers do not wait for them. Before `mutex`.
  base::Mutex reports;
  // A change has failed since the last one that did not: the database may hold it, and `run` does not.
  bool change_failed ABSL_GUARDED_BY(reports) = false;

  // Held for moments, never over the disk. Who changes what it guards holds `reports`, too.
  base::Mutex mutex;
  v1::Run run ABSL_GUARDED_BY(mutex);                   // never RUN_STATE_LOST: that depends on when one looks
  std::int64_t heard_steady_ms ABSL_GUARDED_BY(mutex);  // when the last report came
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_
