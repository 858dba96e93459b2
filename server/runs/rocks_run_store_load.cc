// What a store finds when it opens.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/runs/rocks_run_store.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {
namespace {

// Of a run that a store finds when it opens: it has been silent since its last report, but not since a date in
// the future, which a clock gave it that was wrong.
void PutSilence(RunEntry& entry, std::int64_t now_ms) {
  base::MutexLock lock(entry.mutex);
  const std::int64_t silent_ms = now_ms - entry.run.last_report_ms();
  entry.heard_steady_ms = entry.dates.steady_ms - std::max<std::int64_t>(silent_ms, 0);
}

// A run as it is stored, before it has its place.
struct StoredRun {
  v1::Run run;
  std::uint64_t place = 0;  // 0: of an older server, which stored none
};

// Runs of older servers lie before all others, by their dates.
void GivePlaces(std::map<std::string, StoredRun, std::less<>>& runs) {
  std::vector<StoredRun*> older;
  for (auto& [name, stored] : runs) {
    if (stored.place == 0) older.push_back(&stored);
  }
  std::ranges::sort(older, [](const StoredRun* a, const StoredRun* b) {
    return a->run.started_ms() != b->run.started_ms() ? a->run.started_ms() < b->run.started_ms()
                                                      : a->run.run() > b->run.run();
  });
  std::uint64_t place = 0;
  for (StoredRun* stored : older) stored->place = ++place;
}

}  // namespace

absl::Status RocksRunStore::Load() {
  ABSL_RETURN_IF_ERROR(LoadRuns());
  const auto load_key = [this](std::string_view key, std::string_view value) {
    base::MutexLock lock(start_mutex_);
    names_by_key_.emplace(key.substr(kIdempotencyPrefix.size()), value);
    return absl::OkStatus();
  };
  absl::Status status = database_->Scan(Family::kRuns, kIdempotencyPrefix, load_key);
  if (status.ok()) status = LoadAttempts();
  return status.ok() ? LoadLostRecords() : status;
}

absl::Status RocksRunStore::LoadRuns() {
  std::map<std::string, StoredRun, std::less<>> runs;
  const auto find = [&runs](std::string_view name) -> absl::StatusOr<StoredRun*> {
    const auto found = runs.find(name);
    if (found != runs.end()) return &found->second;
    return absl::DataLossError(
        absl::StrCat("the run database holds rows of a run without a description, ", std::string(name)));
  };
  const auto load_run = [&runs](std::string_view, std::string_view value) {
    v1::Run run;
    const absl::Status status = ParseRecord(value, run);
    if (status.ok()) runs[run.run()].run = run;
    return status;
  };
  const auto load_progress = [&find](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(StoredRun * stored, find(key.substr(kProgressPrefix.size())));
    v1::Run progress;
    const absl::Status status = ParseRecord(value, progress);
    if (status.ok()) stored->run.MergeFrom(progress);
    return status;
  };
  const auto load_place = [&find](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(StoredRun * stored, find(key.substr(kPlacePrefix.size())));
    ABSL_ASSIGN_OR_RETURN(stored->place, ParsePlace(value));
    return absl::OkStatus();
  };
  absl::Status status = database_->Scan(Family::kRuns, kDescriptionPrefix, load_run);
  if (status.ok()) status = database_->Scan(Family::kRuns, kProgressPrefix, load_progress);
  if (status.ok()) status = database_->Scan(Family::kRuns, kPlacePrefix, load_place);
  ABSL_RETURN_IF_ERROR(status);
  GivePlaces(runs);
  for (auto& [name, stored] : runs) Take(std::move(stored.run), stored.place);
  return absl::OkStatus();
}

void RocksRunStore::Take(v1::Run run, std::uint64_t place) {
  CompleteRun(run);
  const std::int64_t now_ms = options_.now_ms();
  const std::int64_t known_ms = std::max({run.started_ms(), run.last_report_ms(), run.finished_ms()});
  auto entry = std::make_shared<RunEntry>(
      std::move(run), place,
      RunDates{.date_ms = std::max(now_ms, known_ms), .steady_ms = options_.steady_ms()});
  PutSilence(*entry, now_ms);
  {
    base::MutexLock lock(start_mutex_);
    last_place_ = std::max(last_place_, place);
  }
  base::MutexLock lock(mutex_);
  const std::string name = entry->name;
  entries_.emplace(name, std::move(entry));
}

absl::Status RocksRunStore::LoadAttempts() {
  return database_->Scan(Family::kRuns, kAttemptPrefix, [this](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfAttemptKey(key));
    absl::StatusOr<EntryPtr> entry = Find(reporter.run);
    v1::StartRunRequest request;
    absl::Status status = entry.ok() ? ParseRecord(value, request) : entry.status();
    ABSL_RETURN_IF_ERROR(status);
    RunEntry& loaded = **entry;
    base::MutexLock lock(loaded.mutex);
    loaded.AddAttempt(reporter, request.first_step(), request.process_key());
    return status;
  });
}

absl::Status RocksRunStore::LoadLostRecords() {
  const auto load = [this](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfLostRecordsKey(key));
    absl::StatusOr<EntryPtr> entry = Find(reporter.run);
    v1::ReportLostRecordsRequest lost;
    absl::Status status = entry.ok() ? ParseRecord(value, lost) : entry.status();
    ABSL_RETURN_IF_ERROR(status);
    RunEntry& loaded = **entry;
    base::MutexLock lock(loaded.mutex);
    loaded.SetLost({reporter.rank, reporter.attempt}, lost.records());
    return status;
  };
  return database_->Scan(Family::kRuns, kLostRecordsPrefix, load);
}

}  // namespace packtrain::runs
