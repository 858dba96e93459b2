// Runs in a RocksDB database of their own.
#ifndef PACKTRAIN_SERVER_RUNS_ROCKS_RUN_STORE_H_
#define PACKTRAIN_SERVER_RUNS_ROCKS_RUN_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/mutex.h"
#include "server/runs/clocks.h"
#include "server/runs/coverage_cache.h"
#include "server/runs/run_coverage.h"
#include "server/runs/run_database.h"
#include "server/runs/run_entry.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

struct RocksRunStoreOptions {
  // A run without a report for longer than this is shown as lost.
  std::int64_t lost_after_ms = std::int64_t{10} * 60 * 1000;
  std::function<std::int64_t()> now_ms = SystemNowMs;     // names and dates what begins
  std::function<std::int64_t()> steady_ms = SteadyNowMs;  // says how long it is since
  // Called with the steps of each report that are new, once they are stored, on any thread; null: nobody asks.
  std::function<void(const std::vector<wire::StepRecord>& steps)> on_steps = nullptr;
  // Of the coverages of all runs that report (coverage_cache.h).
  std::size_t coverage_bytes = std::size_t{16} << 20;
  rocks::DatabaseOptions database;
};

// Any number of threads may use it; reports of different runs do not wait for each other.
class RocksRunStore final : public RunStore {
 public:
  // Codes as rocks::Database::Open.
  static absl::StatusOr<std::unique_ptr<RocksRunStore>> Open(const std::string& directory,
                                                             RocksRunStoreOptions options);
  ~RocksRunStore() override;

  absl::StatusOr<v1::StartRunResponse> Start(const v1::StartRunRequest& request) override;
  absl::StatusOr<std::uint64_t> AddSteps(const Reporter& reporter,
                                         const std::vector<wire::StepRecord>& steps) override;
  absl::Status AddEvaluation(std::string_view run, const v1::Evaluation& evaluation) override;
  absl::Status AddSamples(const Reporter& reporter, const std::vector<v1::Sample>& samples) override;
  absl::Status AddEvents(const Reporter& reporter, const std::vector<v1::Event>& events) override;
  absl::Status AddCorruptGraphs(const Reporter& reporter,
                                const std::vector<v1::CorruptGraphs>& batches) override;
  absl::Status AddLostRecords(const Reporter& reporter, std::uint64_t records) override;
  absl::Status Finish(const v1::FinishRunRequest& request) override;

  absl::StatusOr<v1::Run> Get(std::string_view run) const override;
  absl::StatusOr<std::vector<v1::Run>> List() const override;
  absl::Status ListAfter(ListPosition after, RunSink sink) const override;
  absl::StatusOr<std::vector<analysis::OpenedAttempt>> ReadAttempts(std::string_view run) const override;
  absl::Status ReadSteps(std::string_view run, StepSink sink) const override;
  absl::Status ReadEvaluations(std::string_view run, EvaluationSink sink) const override;
  absl::Status ReadSamples(std::string_view run, SampleSink sink) const override;
  absl::Status ReadEvents(std::string_view run, EventSink sink) const override;
  absl::Status ReadCorruptGraphs(std::string_view run, CorruptGraphsSink sink) const override;
  rocks::DatabaseStatistics statistics() const { return database_->statistics(); }
  // What it holds in memory of its runs.
  std::uint64_t held_bytes() const;
  // For reading.
  const rocks::Database& database() const { return *database_; }

 private:
  using EntryPtr = std::shared_ptr<RunEntry>;

  RocksRunStore(std::unique_ptr<rocks::Database> database, RocksRunStoreOptions options);

  absl::Status Load();
  void Take(v1::Run run, std::uint64_t place);

  absl::StatusOr<v1::StartRunResponse> StartOrJoin(const v1::StartRunRequest& request);
  absl::StatusOr<v1::StartRunResponse> StartNew(const v1::StartRunRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(start_mutex_);
  absl::StatusOr<std::optional<std::string>> NameOfKey(const std::string& idempotency_key) const;
  absl::StatusOr<v1::StartRunResponse> Join(RunEntry& entry, const v1::StartRunRequest& request);
  // `follower` goes on with the run from `first_step` on.
  absl::Status SetFollowed(RunEntry& entry, const std::string& follower, std::uint64_t first_step);
  std::string NewName(std::string_view key, std::int64_t now_ms) const;
  std::int64_t DateIn(const RunEntry& entry) const;

  // An attempt that is being opened.
  struct NewAttempt {
    Reporter reporter;
    const v1::StartRunRequest& request;
  };
  // Stores what becomes of a run, and in it the attempt, if any. Counts its steps again. Synced.
  absl::Status Change(RunEntry& entry, v1::Run changed, const NewAttempt* opened)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry.reports);

  // The first step of the reporter's attempt. INVALID_ARGUMENT: rank outside the world. FAILED_PRECONDITION: no
  // such attempt, or the run is finished.
  absl::StatusOr<std::uint64_t> FindReporter(RunEntry& entry, const Reporter& reporter) const;
  // Reads it from the database where it is not held.
  absl::StatusOr<std::shared_ptr<RunCoverage>> CoverageOf(RunEntry& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry.reports);
  // Stores the steps, which are not there yet, and the time of this report.
  absl::Status StoreSteps(RunEntry& entry, const Reporter& reporter, const std::vector<wire::StepRecord>& fresh,
                          std::uint64_t steps_of_run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry.reports);
  void NoteReport(RunEntry& entry, std::uint64_t steps_of_run, std::int64_t date_ms)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry.reports);

  // By the whole name, or by an unambiguous beginning.
  absl::StatusOr<EntryPtr> Find(std::string_view run) const;
  absl::StatusOr<EntryPtr> FindByPrefix(std::string_view prefix) const;
  std::vector<EntryPtr> EntriesAfter(ListPosition after) const;
  v1::Run Snapshot(RunEntry& entry) const;
  // Writes `entries`, if any, and the time of this report.
  absl::Status Report(RunEntry& entry, const Reporter* reporter, std::vector<rocks::Change> entries)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry.reports);
  absl::Status AddReport(std::string_view run, const Reporter* reporter, std::vector<rocks::Change> entries);

  const std::unique_ptr<rocks::Database> database_;
  const RocksRunStoreOptions options_;
  CoverageCache coverages_;

  // Held while a run begins. Order: start_mutex_, then an entry's reports, then its mutex or mutex_; the latter
  // two are never held together.
  base::Mutex start_mutex_;
  std::uint64_t last_place_ ABSL_GUARDED_BY(start_mutex_) = 0;

  mutable base::Mutex mutex_;
  std::map<std::string, EntryPtr, std::less<>> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_ROCKS_RUN_STORE_H_
