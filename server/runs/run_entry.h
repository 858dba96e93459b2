// A run as its store holds it in memory.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_
#define PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "packtrain/v1/run.pb.h"
#include "proto/base/mutex.h"
#include "proto/wire/step_columns.h"
#include "server/runs/run_database.h"
#include "server/runs/run_store.h"
#include "server/runs/step_coverage.h"

namespace packtrain::runs {

inline bool IsFinished(const v1::Run& run) { return run.state() != v1::RUN_STATE_RUNNING; }

// Which steps of a run are stored.
struct RunCoverage {
  void Insert(const Reporter& reporter, std::span<const wire::StepRecord> steps);

  std::map<std::pair<std::uint32_t, std::uint32_t>, StepCoverage> by_reporter;
  StepCoverage of_rank_0;  // over all attempts
};

// Small for a finished run: coverage is only there while reports come. Any number of threads may use it, each
// while it holds `mutex`; `name` needs no lock.
struct RunEntry {
  explicit RunEntry(v1::Run initial);

  // A process of a rank that opened an attempt.
  struct Attempt {
    std::uint32_t rank;
    std::uint32_t attempt;
    std::string process_key;
  };

  std::uint32_t AttemptsOf(std::uint32_t rank) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Null for an empty or unknown key.
  const Attempt* FindProcess(std::uint32_t rank, std::string_view process_key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void AddAttempt(const Reporter& reporter, std::string process_key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // FAILED_PRECONDITION: the run is finished.
  absl::Status CheckTakesReports() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // INVALID_ARGUMENT: rank outside the world. FAILED_PRECONDITION: no such attempt.
  absl::Status CheckReporter(const Reporter& reporter) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Reads `coverage` from the database where it is not there.
  absl::Status EnsureCoverage(const rocks::Database& database) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Both want coverage.
  std::vector<wire::StepRecord> NotYetStored(const Reporter& reporter,
                                             const std::vector<wire::StepRecord>& steps)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // What Run.steps becomes once `fresh` is stored.
  std::uint64_t StepsWith(const Reporter& reporter, const std::vector<wire::StepRecord>& fresh) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  const std::string name;
  base::Mutex mutex;
  v1::Run run ABSL_GUARDED_BY(mutex);  // never RUN_STATE_LOST: that depends on when one looks
  std::vector<Attempt> attempts ABSL_GUARDED_BY(mutex);
  std::map<std::uint32_t, std::uint32_t> attempts_by_rank ABSL_GUARDED_BY(mutex);
  std::optional<RunCoverage> coverage ABSL_GUARDED_BY(mutex);
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_ENTRY_H_
