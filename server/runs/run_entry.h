// A run as its store holds it in memory.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_
#define PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "proto/base/mutex.h"
#include "proto/wire/step_columns.h"
#include "server/analysis/counted_records.h"
#include "server/runs/run_database.h"
#include "server/runs/run_store.h"
#include "server/runs/step_coverage.h"

namespace packtrain::runs {

inline bool IsFinished(const v1::Run& run) { return run.state() != v1::RUN_STATE_RUNNING; }

// Completes a run by what older servers did not store: the end of one that is done. Steps behind an end do not
// count.
void CompleteRun(v1::Run& run);

// Which steps of a run are stored.
struct RunCoverage {
  void Insert(const Reporter& reporter, std::span<const wire::StepRecord> steps,
              const analysis::CountedRecords& counted);
  // What `counted_of_rank_0` is where other records count.
  StepCoverage CountedAs(const analysis::CountedRecords& counted) const;

  std::map<analysis::RankAttempt, StepCoverage> by_process;
  StepCoverage counted_of_rank_0;
};

// A run's dates: the date of its beginning, or of its last report before a restart, and what a clock that
// nobody sets says has passed since. So a run lasts as long as it lasted, whatever is done to the system's
// clock.
struct RunDates {
  std::int64_t DateAt(std::int64_t now_steady_ms) const { return date_ms + (now_steady_ms - steady_ms); }

  std::int64_t date_ms = 0;    // since 1970-01-01 UTC
  std::int64_t steady_ms = 0;  // the same moment by the steady clock
};

// Small for a finished run: coverage is only there while reports come. Any number of threads may use it, each
// while it holds the mutex that guards what it uses.
struct RunEntry {
  RunEntry(v1::Run initial, std::uint64_t place, RunDates its_dates);

  // A process of a rank that opened an attempt.
  struct Attempt {
    std::uint64_t first_step = 0;
    std::string process_key;
    std::uint64_t lost_records = 0;
  };
  using Attempts = std::map<analysis::RankAttempt, Attempt>;

  std::uint32_t AttemptsOf(std::uint32_t rank) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // The attempt of a process; nothing for an empty or unknown key.
  std::optional<std::uint32_t> FindProcess(std::uint32_t rank, std::string_view process_key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void AddAttempt(const Reporter& reporter, std::uint64_t first_step, std::string process_key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // The largest number counts.
  void SetLost(const analysis::RankAttempt& process, std::uint64_t records)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // FAILED_PRECONDITION: the run is finished.
  absl::Status CheckTakesReports() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // The reporter's attempt. INVALID_ARGUMENT: rank outside the world. FAILED_PRECONDITION: no such attempt.
  absl::StatusOr<const Attempt*> FindReporter(const Reporter& reporter) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  std::vector<analysis::OpenedAttempt> AllAttempts() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  std::vector<analysis::OpenedAttempt> AttemptsOfRank0() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Reads `coverage` from the database where it is not there.
  absl::Status EnsureCoverage(const rocks::Database& database, const analysis::CountedRecords& counted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(reports);
  // Both want coverage.
  std::vector<wire::StepRecord> NotYetStored(const Reporter& reporter,
                                             const std::vector<wire::StepRecord>& steps)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(reports);
  // What Run.steps becomes once `fresh` is stored.
  std::uint64_t StepsWith(const Reporter& reporter, const std::vector<wire::StepRecord>& fresh,
                          const analysis::CountedRecords& counted) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(reports);

  const std::string name;
  const std::uint64_t place;  // in the order in which runs began
  const RunDates dates;

  // Held by whoever changes the run, from reading what is there until the change is on disk: changes of a run
  // come one by one, and readers do not wait for them. Before `mutex`.
  base::Mutex reports;
  std::optional<RunCoverage> coverage ABSL_GUARDED_BY(reports);

  // Held for moments, never over the disk. Who changes what it guards holds `reports`, too.
  base::Mutex mutex;
  v1::Run run ABSL_GUARDED_BY(mutex);  // never RUN_STATE_LOST: that depends on when one looks
  Attempts attempts ABSL_GUARDED_BY(mutex);
  std::int64_t heard_steady_ms ABSL_GUARDED_BY(mutex);  // when the last report came
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_
