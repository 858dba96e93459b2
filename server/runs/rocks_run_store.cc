#include "server/runs/rocks_run_store.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"
#include "server/runs/block_merger.h"
#include "server/runs/run_entry.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {
namespace {

constexpr std::size_t kMaxCandidatesShown = 10;

// Four characters that depend on `key` and `attempt`.
std::string Suffix(std::string_view key, int attempt) {
  constexpr std::string_view kAlphabet = "abcdefghjkmnpqrstuvwxyz23456789";
  std::size_t hash = std::hash<std::string>()(absl::StrCat(std::string(key), "/", attempt));
  std::string suffix;
  for (int i = 0; i < 4; ++i) {
    suffix.push_back(kAlphabet[hash % kAlphabet.size()]);
    hash /= kAlphabet.size();
  }
  return suffix;
}

absl::Status NoSuchRun(std::string_view run) {
  return base::WithReason(absl::NotFoundError(absl::StrCat("no run ", std::string(run))), "RUN_NOT_FOUND",
                          {{"run", std::string(run)}});
}

absl::Status NoRunToJoin(const v1::StartRunRequest& request) {
  return absl::NotFoundError(absl::StrCat("rank ", request.rank(),
                                          " joins a run that this server does not have: rank 0 has begun it "
                                          "elsewhere, or not yet"));
}

ListPosition PositionOf(RunEntry& entry) {
  base::MutexLock lock(entry.mutex);
  return {entry.run.started_ms(), entry.name};
}

}  // namespace

RocksRunStore::RocksRunStore(std::unique_ptr<rocks::Database> database, RocksRunStoreOptions options)
    : database_(std::move(database)),
      options_(std::move(options)),
      clock_(options_.now_ms, options_.steady_ms) {}

RocksRunStore::~RocksRunStore() = default;

absl::StatusOr<std::unique_ptr<RocksRunStore>> RocksRunStore::Open(const std::string& directory,
                                                                   RocksRunStoreOptions options) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<rocks::Database> database,
                        OpenRunDatabase(directory, options.database));
  std::unique_ptr<RocksRunStore> store(new RocksRunStore(std::move(database), std::move(options)));
  ABSL_RETURN_IF_ERROR(store->Load());
  return store;
}

absl::Status RocksRunStore::Load() {
  const auto load_run = [this](std::string_view, std::string_view value) {
    v1::Run run;
    absl::Status status = ParseRecord(value, run);
    ABSL_RETURN_IF_ERROR(status);
    clock_.NotBefore(std::max({run.started_ms(), run.last_report_ms(), run.finished_ms()}));
    base::MutexLock lock(mutex_);
    const std::string name = run.run();
    entries_.emplace(name, std::make_shared<RunEntry>(std::move(run)));
    return status;
  };
  const auto load_progress = [this](std::string_view key, std::string_view value) {
    absl::StatusOr<EntryPtr> entry = Find(key.substr(kProgressPrefix.size()));
    v1::Run progress;
    absl::Status status = entry.ok() ? ParseRecord(value, progress) : entry.status();
    ABSL_RETURN_IF_ERROR(status);
    clock_.NotBefore(progress.last_report_ms());
    RunEntry& loaded = **entry;
    base::MutexLock lock(loaded.mutex);
    loaded.run.MergeFrom(progress);
    return status;
  };
  const auto load_key = [this](std::string_view key, std::string_view value) {
    base::MutexLock lock(start_mutex_);
    names_by_key_.emplace(key.substr(kIdempotencyPrefix.size()), value);
    return absl::OkStatus();
  };
  absl::Status status = database_->Scan(Family::kRuns, kDescriptionPrefix, load_run);
  if (status.ok()) status = database_->Scan(Family::kRuns, kProgressPrefix, load_progress);
  if (status.ok()) status = database_->Scan(Family::kRuns, kIdempotencyPrefix, load_key);
  return status.ok() ? LoadAttempts() : status;
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
    loaded.AddAttempt(reporter, request.process_key());
    return status;
  });
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::Start(const v1::StartRunRequest& request) {
  ABSL_RETURN_IF_ERROR(ValidateStart(request));
  base::MutexLock lock(start_mutex_);
  const auto known = names_by_key_.find(request.idempotency_key());
  if (known == names_by_key_.end()) return request.join_only() ? NoRunToJoin(request) : StartNew(request);
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, Find(known->second));
  return Join(*entry, request);
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::StartNew(const v1::StartRunRequest& request) {
  const std::int64_t now = clock_.NowMs();
  v1::Run run;
  run.set_run(NewName(request.idempotency_key(), now));
  run.set_state(v1::RUN_STATE_RUNNING);
  *run.mutable_description() = request.description();
  run.mutable_description()->set_world_size(std::max(1u, request.description().world_size()));
  run.set_started_ms(now);
  run.set_last_report_ms(now);
  const Reporter reporter{run.run(), request.rank(), 0};
  absl::Status status =
      database_->Write({DescriptionEntry(run),
                        ProgressEntry(run.run(), 0, now),
                        AttemptEntry(reporter, request),
                        {Family::kRuns, IdempotencyKey(request.idempotency_key()), run.run()}},
                       rocks::Durability::kDisk);
  ABSL_RETURN_IF_ERROR(status);

  v1::StartRunResponse response;
  response.set_run(run.run());
  names_by_key_.emplace(request.idempotency_key(), run.run());
  auto entry = std::make_shared<RunEntry>(std::move(run));
  {
    base::MutexLock lock(entry->mutex);
    entry->AddAttempt(reporter, request.process_key());
    entry->coverage.emplace();
  }
  base::MutexLock lock(mutex_);
  entries_.emplace(reporter.run, std::move(entry));
  return response;
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::Join(RunEntry& entry, const v1::StartRunRequest& request) {
  base::MutexLock lock(entry.mutex);
  absl::Status status = ValidateRank(request.rank(), entry.run.description().world_size());
  ABSL_RETURN_IF_ERROR(status);
  v1::StartRunResponse response;
  response.set_run(entry.name);
  if (const RunEntry::Attempt* known = entry.FindProcess(request.rank(), request.process_key())) {
    response.set_attempt(known->attempt);
    return response;
  }
  const Reporter reporter{entry.name, request.rank(), entry.AttemptsOf(request.rank())};
  const std::int64_t now = clock_.NowMs();
  v1::Run run = entry.run;
  run.set_state(v1::RUN_STATE_RUNNING);
  run.set_last_report_ms(now);
  run.clear_finished_ms();
  run.clear_message();
  if (const std::uint64_t planned = request.description().planned_steps(); planned > 0) {
    run.mutable_description()->set_planned_steps(planned);
  }
  if (request.description().on_corrupt() == v1::ON_CORRUPT_SKIP) {
    run.mutable_description()->set_on_corrupt(v1::ON_CORRUPT_SKIP);
  }
  status = database_->Write(
      {DescriptionEntry(run), ProgressEntry(entry.name, run.steps(), now), AttemptEntry(reporter, request)},
      rocks::Durability::kDisk);
  ABSL_RETURN_IF_ERROR(status);
  entry.run = std::move(run);
  entry.AddAttempt(reporter, request.process_key());
  response.set_attempt(reporter.attempt);
  return response;
}

std::string RocksRunStore::NewName(std::string_view key, std::int64_t now_ms) const {
  const std::string time = absl::FormatTime("%Y%m%d-%H%M%S", absl::FromUnixMillis(now_ms), absl::UTCTimeZone());
  base::MutexLock lock(mutex_);
  for (int attempt = 0;; ++attempt) {
    std::string name = absl::StrCat(time, "-", Suffix(key, attempt));
    if (entries_.find(name) == entries_.end()) return name;
  }
}

absl::StatusOr<RocksRunStore::EntryPtr> RocksRunStore::Find(std::string_view run) const {
  base::MutexLock lock(mutex_);
  const auto found = entries_.find(run);
  if (found != entries_.end()) return found->second;
  return NoSuchRun(run);
}

absl::StatusOr<RocksRunStore::EntryPtr> RocksRunStore::FindByPrefix(std::string_view prefix) const {
  if (prefix.empty()) return absl::InvalidArgumentError("the run's name is empty");
  base::MutexLock lock(mutex_);
  const auto first = entries_.lower_bound(prefix);
  std::vector<std::string> candidates;
  for (auto it = first; it != entries_.end() && it->first.starts_with(prefix); ++it) {
    if (it->first == prefix) return it->second;
    if (candidates.size() < kMaxCandidatesShown) candidates.push_back(it->first);
  }
  if (candidates.size() == 1) return first->second;
  if (candidates.empty()) return NoSuchRun(prefix);
  return absl::InvalidArgumentError(absl::StrCat("several runs begin with ", std::string(prefix), ": ",
                                                 absl::StrJoin(candidates, ", "),
                                                 candidates.size() == kMaxCandidatesShown ? ", ..." : ""));
}

absl::StatusOr<std::uint64_t> RocksRunStore::AddSteps(const Reporter& reporter,
                                                      const std::vector<wire::StepRecord>& steps) {
  ABSL_RETURN_IF_ERROR(ValidateSteps(steps));
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(reporter.run));
  RunEntry& entry = *found;
  base::MutexLock lock(entry.mutex);
  absl::Status status = entry.CheckTakesReports();
  if (status.ok()) status = entry.CheckReporter(reporter);
  if (status.ok()) status = entry.EnsureCoverage(*database_);
  ABSL_RETURN_IF_ERROR(status);

  const std::vector<wire::StepRecord> fresh = entry.NotYetStored(reporter, steps);
  const std::uint64_t count = entry.StepsWith(reporter, fresh);
  const std::int64_t now = clock_.NowMs();
  std::vector<rocks::Change> entries = {ProgressEntry(entry.name, count, now)};
  if (!fresh.empty()) {
    entries.push_back({Family::kSteps, StepBlockKey(reporter, fresh.front().step),
                       wire::ToStepBlock(fresh).SerializeAsString()});
  }
  status = database_->Write(entries, rocks::Durability::kProcess);
  ABSL_RETURN_IF_ERROR(status);
  entry.coverage->Insert(reporter, fresh);
  if (options_.on_steps) options_.on_steps(fresh);
  entry.run.set_steps(count);
  entry.run.set_last_report_ms(now);
  return *entry.coverage->by_reporter[{reporter.rank, reporter.attempt}].last();
}

absl::Status RocksRunStore::Finish(std::string_view run, v1::RunState state, std::string_view message) {
  ABSL_RETURN_IF_ERROR(ValidateFinish(state, message));
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(run));
  RunEntry& entry = *found;
  base::MutexLock lock(entry.mutex);
  if (entry.run.state() == state) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(entry.CheckTakesReports());
  v1::Run finished = entry.run;
  finished.set_state(state);
  finished.set_message(std::string(message));
  finished.set_finished_ms(clock_.NowMs());
  absl::Status status = database_->Write({DescriptionEntry(finished)}, rocks::Durability::kDisk);
  ABSL_RETURN_IF_ERROR(status);
  entry.run = std::move(finished);
  entry.coverage.reset();
  return status;
}

v1::Run RocksRunStore::Snapshot(RunEntry& entry) const {
  base::MutexLock lock(entry.mutex);
  v1::Run run = entry.run;
  const bool silent = clock_.NowMs() - run.last_report_ms() > options_.lost_after_ms;
  if (!IsFinished(run) && silent) run.set_state(v1::RUN_STATE_LOST);
  return run;
}

absl::StatusOr<v1::Run> RocksRunStore::Get(std::string_view run) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  return Snapshot(*entry);
}

absl::StatusOr<std::vector<v1::Run>> RocksRunStore::List() const {
  std::vector<v1::Run> runs;
  absl::Status status = ListAfter({}, [&runs](v1::Run run) {
    runs.push_back(std::move(run));
    return true;
  });
  ABSL_RETURN_IF_ERROR(status);
  return runs;
}

absl::Status RocksRunStore::ListAfter(const ListPosition& after, RunSink sink) const {
  for (const EntryPtr& entry : EntriesAfter(after)) {
    if (!sink(Snapshot(*entry))) break;
  }
  return absl::OkStatus();
}

std::vector<RocksRunStore::EntryPtr> RocksRunStore::EntriesAfter(const ListPosition& after) const {
  std::vector<EntryPtr> entries;
  {
    base::MutexLock lock(mutex_);
    for (const auto& [name, entry] : entries_) entries.push_back(entry);
  }
  std::vector<std::pair<ListPosition, EntryPtr>> listed;
  for (EntryPtr& entry : entries) {
    ListPosition position = PositionOf(*entry);
    if (after < position) listed.emplace_back(std::move(position), std::move(entry));
  }
  std::sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  entries.clear();
  for (auto& [position, entry] : listed) entries.push_back(std::move(entry));
  return entries;
}

absl::Status RocksRunStore::ReadSteps(std::string_view run, StepSink sink) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  BlockMerger merger(sink);
  absl::Status status = database_->Scan(
      Family::kSteps, StepPrefix(entry->name), [&merger](std::string_view key, std::string_view value) {
        ABSL_ASSIGN_OR_RETURN(Reporter reporter, ReporterOfStepBlockKey(key));
        ABSL_ASSIGN_OR_RETURN(std::vector<wire::StepRecord> steps, ParseSteps(value));
        return merger.Add(std::move(reporter), std::move(steps));
      });
  return status.ok() ? merger.Flush() : status;
}

}  // namespace packtrain::runs
