// What a store finds when it opens.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/runs/rocks_run_store.h"
#include "server/runs/run_changes.h"
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
using StoredRuns = std::map<std::string, StoredRun, std::less<>>;

absl::StatusOr<StoredRun*> FindStored(StoredRuns& runs, std::string_view name) {
  const auto found = runs.find(name);
  if (found != runs.end()) return &found->second;
  return absl::DataLossError(
      absl::StrCat("the run database holds rows of a run without a description, ", std::string(name)));
}

absl::Status ReadDescriptions(const rocks::Database& database, StoredRuns& runs) {
  return database.Scan(Family::kRuns, kDescriptionPrefix, [&runs](std::string_view, std::string_view value) {
    v1::Run run;
    ABSL_RETURN_IF_ERROR(ParseRecord(value, run));
    std::string name = run.run();
    runs[std::move(name)].run = std::move(run);
    return absl::OkStatus();
  });
}

absl::Status ReadProgress(const rocks::Database& database, StoredRuns& runs) {
  return database.Scan(Family::kRuns, kProgressPrefix, [&runs](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(StoredRun * stored, FindStored(runs, key.substr(kProgressPrefix.size())));
    v1::Run progress;
    ABSL_RETURN_IF_ERROR(ParseRecord(value, progress));
    stored->run.MergeFrom(progress);
    return absl::OkStatus();
  });
}

absl::Status ReadPlaces(const rocks::Database& database, StoredRuns& runs) {
  return database.Scan(Family::kRuns, kPlacePrefix, [&runs](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(StoredRun * stored, FindStored(runs, key.substr(kPlacePrefix.size())));
    ABSL_ASSIGN_OR_RETURN(stored->place, ParsePlace(value));
    return absl::OkStatus();
  });
}

// Rows of one kind, each of a reporter: `put` takes what it says into the reporter's run.
template <typename Message>
absl::Status ReadRowsOfReporters(const rocks::Database& database, std::string_view prefix,
                                 absl::StatusOr<Reporter> (*reporter_of_key)(std::string_view key),
                                 void (*put)(const Reporter& reporter, const Message& row, v1::Run& run),
                                 StoredRuns& runs) {
  return database.Scan(Family::kRuns, prefix, [&](std::string_view key, std::string_view value) {
    ABSL_ASSIGN_OR_RETURN(const Reporter reporter, reporter_of_key(key));
    ABSL_ASSIGN_OR_RETURN(StoredRun * stored, FindStored(runs, reporter.run));
    Message row;
    ABSL_RETURN_IF_ERROR(ParseRecord(value, row));
    put(reporter, row, stored->run);
    return absl::OkStatus();
  });
}

void PutAttempt(const Reporter& reporter, const v1::StartRunRequest&, v1::Run& run) {
  run.set_attempts(std::max(run.attempts(), reporter.attempt + 1));
}

void PutLostRecords(const Reporter&, const v1::ReportLostRecordsRequest& lost, v1::Run& run) {
  run.set_lost_records(run.lost_records() + lost.records());
}

// Runs of older servers lie before all others, by their dates.
void GivePlaces(StoredRuns& runs) {
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

absl::StatusOr<StoredRuns> ReadRuns(const rocks::Database& database) {
  StoredRuns runs;
  ABSL_RETURN_IF_ERROR(ReadDescriptions(database, runs));
  ABSL_RETURN_IF_ERROR(ReadProgress(database, runs));
  ABSL_RETURN_IF_ERROR(ReadPlaces(database, runs));
  ABSL_RETURN_IF_ERROR(ReadRowsOfReporters(database, kAttemptPrefix, &ReporterOfAttemptKey, &PutAttempt, runs));
  ABSL_RETURN_IF_ERROR(
      ReadRowsOfReporters(database, kLostRecordsPrefix, &ReporterOfLostRecordsKey, &PutLostRecords, runs));
  GivePlaces(runs);
  return runs;
}

}  // namespace

absl::Status RocksRunStore::Load() {
  ABSL_ASSIGN_OR_RETURN(StoredRuns runs, ReadRuns(*database_));
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

}  // namespace packtrain::runs
