#include "server/runs/rocks_run_store.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"
#include "server/runs/block_merger.h"
#include "server/runs/run_changes.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"
#include "server/runs/stored_attempts.h"

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

}  // namespace

absl::Status RunStore::Finish(std::string_view run, v1::RunState state, std::string_view message) {
  v1::FinishRunRequest request;
  request.set_run(std::string(run));
  request.set_state(state);
  request.set_message(std::string(message));
  return Finish(request);
}

RocksRunStore::RocksRunStore(std::unique_ptr<rocks::Database> database, RocksRunStoreOptions options)
    : database_(std::move(database)), options_(std::move(options)), coverages_(options_.coverage_bytes) {}

RocksRunStore::~RocksRunStore() = default;

absl::StatusOr<std::unique_ptr<RocksRunStore>> RocksRunStore::Open(const std::string& directory,
                                                                   RocksRunStoreOptions options) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<rocks::Database> database,
                        OpenRunDatabase(directory, options.database));
  std::unique_ptr<RocksRunStore> store(new RocksRunStore(std::move(database), std::move(options)));
  ABSL_RETURN_IF_ERROR(store->Load());
  return store;
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::Start(const v1::StartRunRequest& request) {
  ABSL_RETURN_IF_ERROR(ValidateStart(request));
  EntryPtr followed;
  if (!request.follows().empty()) {
    ABSL_ASSIGN_OR_RETURN(followed, Find(request.follows()));
  }
  ABSL_ASSIGN_OR_RETURN(v1::StartRunResponse response, StartOrJoin(request));
  if (followed != nullptr) {
    ABSL_RETURN_IF_ERROR(SetFollowed(*followed, response.run(), request.first_step()));
  }
  return response;
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::StartOrJoin(const v1::StartRunRequest& request) {
  EntryPtr entry;
  {
    base::MutexLock lock(start_mutex_);
    ABSL_ASSIGN_OR_RETURN(const std::optional<std::string> known, NameOfKey(request.idempotency_key()));
    if (!known.has_value()) return request.join_only() ? NoRunToJoin(request) : StartNew(request);
    ABSL_ASSIGN_OR_RETURN(entry, Find(*known));
  }
  return Join(*entry, request);
}

absl::StatusOr<std::optional<std::string>> RocksRunStore::NameOfKey(const std::string& idempotency_key) const {
  ABSL_ASSIGN_OR_RETURN(std::optional<std::string> name,
                        database_->Get(Family::kRuns, IdempotencyKey(idempotency_key)));
  // The write that was to begin the run failed, although it has reached the disk.
  if (name.has_value() && !Find(*name).ok()) return std::nullopt;
  return name;
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::StartNew(const v1::StartRunRequest& request) {
  const std::int64_t now = options_.now_ms();
  const std::uint64_t place = last_place_ + 1;
  v1::Run run = NewRun(request, NewName(request.idempotency_key(), now), now);
  const Reporter reporter{run.run(), request.rank(), 0};
  ABSL_RETURN_IF_ERROR(database_->Write({DescriptionEntry(run),
                                         ProgressEntry(run.run(), 0, now),
                                         PlaceEntry(run.run(), place),
                                         AttemptEntry(reporter, request),
                                         {Family::kRuns, IdempotencyKey(request.idempotency_key()), run.run()}},
                                        rocks::Durability::kDisk));
  last_place_ = place;
  auto entry = std::make_shared<RunEntry>(std::move(run), place,
                                          RunDates{.date_ms = now, .steady_ms = options_.steady_ms()});
  base::MutexLock lock(mutex_);
  entries_.emplace(reporter.run, std::move(entry));
  v1::StartRunResponse response;
  response.set_run(reporter.run);
  return response;
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::Join(RunEntry& entry, const v1::StartRunRequest& request) {
  base::MutexLock reports(entry.reports);
  v1::Run run;
  {
    base::MutexLock lock(entry.mutex);
    ABSL_RETURN_IF_ERROR(ValidateRank(request.rank(), entry.run.description().world_size()));
    run = entry.run;
  }
  ABSL_ASSIGN_OR_RETURN(const AttemptNumbers attempts,
                        FindAttempts(*database_, entry.name, request.rank(), request.process_key()));
  const std::uint32_t attempt = attempts.of_process.value_or(attempts.next);
  v1::StartRunResponse response;
  response.set_run(entry.name);
  response.set_attempt(attempt);
  // An attempt whose opening failed may be on the disk, and is opened once more.
  if (attempts.of_process.has_value() && !entry.change_failed) return response;
  ABSL_RETURN_IF_ERROR(CheckAttempts(entry.name, request.rank(), attempt));
  Resume(request, DateIn(entry), run);
  const NewAttempt opened{{entry.name, request.rank(), attempt}, request};
  ABSL_RETURN_IF_ERROR(Change(entry, std::move(run), &opened));
  return response;
}

absl::Status RocksRunStore::SetFollowed(RunEntry& entry, const std::string& follower,
                                        std::uint64_t first_step) {
  if (entry.name == follower) {
    return absl::InvalidArgumentError(absl::StrCat("run ", follower, " cannot follow itself"));
  }
  base::MutexLock reports(entry.reports);
  v1::Run run;
  {
    base::MutexLock lock(entry.mutex);
    run = entry.run;
  }
  if (run.followed_by() == follower && run.followed_at_step() == first_step) return absl::OkStatus();
  run.set_followed_by(follower);
  run.set_followed_at_step(first_step);
  return Change(entry, std::move(run), nullptr);
}

absl::Status RocksRunStore::Change(RunEntry& entry, v1::Run changed, const NewAttempt* opened) {
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<RunCoverage> coverage, CoverageOf(entry));
  std::vector<analysis::OpenedAttempt> attempts = coverage->attempts();
  if (opened != nullptr) {
    const Reporter& reporter = opened->reporter;
    if (reporter.rank == 0) attempts.push_back({{0, reporter.attempt}, opened->request.first_step()});
    changed.set_attempts(std::max(changed.attempts(), reporter.attempt + 1));
  }
  if (!attempts.empty()) {
    changed.set_steps(coverage->CountedAs(analysis::CountedRecords(changed, attempts)).count());
  }
  std::vector<rocks::Change> entries = {DescriptionEntry(changed),
                                        ProgressEntry(entry.name, changed.steps(), changed.last_report_ms())};
  if (opened != nullptr) entries.push_back(AttemptEntry(opened->reporter, opened->request));
  const absl::Status written = database_->Write(entries, rocks::Durability::kDisk);
  entry.change_failed = !written.ok();
  if (!written.ok() || IsFinished(changed)) {
    coverages_.Drop(entry.name);
  } else {
    coverage->Recount(changed, std::move(attempts));
    coverages_.Put(entry.name, coverage);
  }
  ABSL_RETURN_IF_ERROR(written);
  base::MutexLock lock(entry.mutex);
  entry.run = std::move(changed);
  if (opened != nullptr) entry.heard_steady_ms = options_.steady_ms();
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<RunCoverage>> RocksRunStore::CoverageOf(RunEntry& entry) {
  if (std::shared_ptr<RunCoverage> held = coverages_.Find(entry.name); held != nullptr) return held;
  ABSL_ASSIGN_OR_RETURN(std::vector<analysis::OpenedAttempt> attempts,
                        ReadAttemptsOfRank(*database_, entry.name, /*rank=*/0));
  v1::Run run;
  {
    base::MutexLock lock(entry.mutex);
    run = entry.run;
  }
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<RunCoverage> loaded,
                        RunCoverage::Load(*database_, run, std::move(attempts)));
  coverages_.Put(entry.name, loaded);
  return loaded;
}

std::int64_t RocksRunStore::DateIn(const RunEntry& entry) const {
  return entry.dates.DateAt(options_.steady_ms());
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

absl::StatusOr<std::uint64_t> RocksRunStore::FindReporter(RunEntry& entry, const Reporter& reporter) const {
  {
    base::MutexLock lock(entry.mutex);
    ABSL_RETURN_IF_ERROR(entry.CheckTakesReports());
    ABSL_RETURN_IF_ERROR(ValidateRank(reporter.rank, entry.run.description().world_size()));
  }
  return FirstStepOf(*database_, reporter);
}

absl::StatusOr<std::uint64_t> RocksRunStore::AddSteps(const Reporter& reporter,
                                                      const std::vector<wire::StepRecord>& steps) {
  ABSL_RETURN_IF_ERROR(ValidateSteps(steps));
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(reporter.run));
  RunEntry& entry = *found;
  base::MutexLock reports(entry.reports);
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t first_step, FindReporter(entry, reporter));
  ABSL_RETURN_IF_ERROR(ValidateFirstStep(steps, first_step));
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<RunCoverage> coverage, CoverageOf(entry));

  std::vector<wire::StepRecord> fresh = coverage->NotYetStored(reporter, steps);
  ABSL_RETURN_IF_ERROR(coverage->CheckGaps(reporter, fresh));
  analysis::MarkWarmUp(fresh, first_step);
  ABSL_RETURN_IF_ERROR(StoreSteps(entry, reporter, fresh, coverage->StepsWith(reporter, fresh)));
  coverage->Insert(reporter, fresh);
  coverages_.Put(entry.name, coverage);
  if (options_.on_steps) options_.on_steps(fresh);
  return coverage->LastOf(reporter);
}

absl::Status RocksRunStore::StoreSteps(RunEntry& entry, const Reporter& reporter,
                                       const std::vector<wire::StepRecord>& fresh, std::uint64_t steps_of_run) {
  const std::int64_t date_ms = DateIn(entry);
  std::vector<rocks::Change> entries = {ProgressEntry(entry.name, steps_of_run, date_ms)};
  if (!fresh.empty()) {
    entries.push_back({Family::kSteps, StepBlockKey(reporter, fresh.front().step),
                       wire::ToStepBlock(fresh).SerializeAsString()});
  }
  ABSL_RETURN_IF_ERROR(database_->Write(entries, rocks::Durability::kProcess));
  NoteReport(entry, steps_of_run, date_ms);
  return absl::OkStatus();
}

void RocksRunStore::NoteReport(RunEntry& entry, std::uint64_t steps_of_run, std::int64_t date_ms) {
  base::MutexLock lock(entry.mutex);
  entry.run.set_steps(steps_of_run);
  entry.run.set_last_report_ms(date_ms);
  entry.heard_steady_ms = options_.steady_ms();
}

absl::Status RocksRunStore::Finish(const v1::FinishRunRequest& request) {
  ABSL_RETURN_IF_ERROR(ValidateFinish(request.state(), request.message()));
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(request.run()));
  RunEntry& entry = *found;
  base::MutexLock reports(entry.reports);
  v1::Run finished;
  {
    base::MutexLock lock(entry.mutex);
    if (entry.run.state() == request.state()) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(entry.CheckTakesReports());
    finished = entry.run;
  }
  PutEnd(request, DateIn(entry), finished);
  return Change(entry, std::move(finished), nullptr);
}

v1::Run RocksRunStore::Snapshot(RunEntry& entry) const {
  base::MutexLock lock(entry.mutex);
  v1::Run run = entry.run;
  const bool silent = options_.steady_ms() - entry.heard_steady_ms > options_.lost_after_ms;
  if (!IsFinished(run) && silent) run.set_state(v1::RUN_STATE_LOST);
  return run;
}

absl::StatusOr<v1::Run> RocksRunStore::Get(std::string_view run) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  return Snapshot(*entry);
}

absl::StatusOr<std::vector<v1::Run>> RocksRunStore::List() const {
  std::vector<v1::Run> runs;
  absl::Status status = ListAfter(kListBegin, [&runs](ListPosition, v1::Run run) {
    runs.push_back(std::move(run));
    return true;
  });
  ABSL_RETURN_IF_ERROR(status);
  return runs;
}

std::vector<RocksRunStore::EntryPtr> RocksRunStore::EntriesAfter(ListPosition after) const {
  std::vector<EntryPtr> entries;
  base::MutexLock lock(mutex_);
  for (const auto& [name, entry] : entries_) {
    if (entry->place < after) entries.push_back(entry);
  }
  return entries;
}

absl::Status RocksRunStore::ListAfter(ListPosition after, RunSink sink) const {
  std::vector<EntryPtr> entries = EntriesAfter(after);
  std::ranges::sort(entries, std::greater(), &RunEntry::place);
  for (const EntryPtr& entry : entries) {
    if (!sink(entry->place, Snapshot(*entry))) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<analysis::OpenedAttempt>> RocksRunStore::ReadAttempts(std::string_view run) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  return runs::ReadAttempts(*database_, entry->name);
}

std::uint64_t RocksRunStore::held_bytes() const {
  std::uint64_t bytes = coverages_.bytes();
  for (const EntryPtr& entry : EntriesAfter(kListBegin)) {
    base::MutexLock lock(entry->mutex);
    bytes += entry->bytes();
  }
  return bytes;
}

absl::Status RocksRunStore::ReadSteps(std::string_view run, StepSink sink) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  ABSL_ASSIGN_OR_RETURN(const std::vector<analysis::OpenedAttempt> attempts,
                        runs::ReadAttempts(*database_, entry->name));
  std::map<analysis::RankAttempt, std::uint64_t> first_steps;
  for (const analysis::OpenedAttempt& attempt : attempts) first_steps[attempt.process] = attempt.first_step;
  BlockMerger merger(sink);
  absl::Status status = database_->Scan(
      Family::kSteps, StepPrefix(entry->name), [&](std::string_view key, std::string_view value) {
        ABSL_ASSIGN_OR_RETURN(Reporter reporter, ReporterOfStepBlockKey(key));
        ABSL_ASSIGN_OR_RETURN(std::vector<wire::StepRecord> steps, ParseSteps(value));
        analysis::MarkWarmUp(steps, first_steps[{reporter.rank, reporter.attempt}]);
        return merger.Add(std::move(reporter), std::move(steps));
      });
  return status.ok() ? merger.Flush() : status;
}

}  // namespace packtrain::runs
