#include "server/runs/rocks_run_store.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "proto/wire/step_convert.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/step_coverage.h"

namespace packtrain::runs {
namespace {

constexpr std::size_t kMaxCandidatesShown = 10;

template <typename Message>
absl::Status Parse(std::string_view value, Message& message) {
  if (message.ParseFromArray(value.data(), static_cast<int>(value.size()))) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the run database holds a damaged ", message.GetTypeName()));
}

absl::StatusOr<std::vector<wire::StepRecord>> ParseSteps(std::string_view value) {
  v1::StepBlock block;
  if (absl::Status status = Parse(value, block); !status.ok()) return status;
  return wire::FromStepBlock(block);
}

bool IsFinished(const v1::Run& run) { return run.state() != v1::RUN_STATE_RUNNING; }

KeyValue DescriptionEntry(const v1::Run& run) {
  v1::Run stored = run;
  stored.clear_steps();
  stored.clear_last_report_ms();
  return {Family::kRuns, DescriptionKey(run.run()), stored.SerializeAsString()};
}

KeyValue ProgressEntry(std::string_view run, std::uint64_t steps, std::int64_t last_report_ms) {
  v1::Run progress;
  progress.set_steps(steps);
  progress.set_last_report_ms(last_report_ms);
  return {Family::kRuns, ProgressKey(run), progress.SerializeAsString()};
}

KeyValue AttemptEntry(const Reporter& reporter, v1::StartRunRequest request) {
  request.clear_description();
  return {Family::kRuns, AttemptKey(reporter), request.SerializeAsString()};
}

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

// Puts blocks of one reporter that overlap in steps together, so that steps ascend over all blocks.
class BlockMerger {
 public:
  explicit BlockMerger(RunStore::StepSink sink) : sink_(sink) {}

  absl::Status Add(Reporter reporter, std::vector<wire::StepRecord> steps) {
    const bool same = reporter.run == reporter_.run && reporter.rank == reporter_.rank &&
                      reporter.attempt == reporter_.attempt;
    if (same && !pending_.empty() && steps.front().step < pending_.back().step) {
      Merge(steps);
      return absl::OkStatus();
    }
    absl::Status status = Flush();
    reporter_ = std::move(reporter);
    pending_ = std::move(steps);
    return status;
  }

  absl::Status Flush() { return pending_.empty() ? absl::OkStatus() : sink_(reporter_, pending_); }

 private:
  void Merge(const std::vector<wire::StepRecord>& steps) {
    const auto old_size = static_cast<std::ptrdiff_t>(pending_.size());
    pending_.insert(pending_.end(), steps.begin(), steps.end());
    std::inplace_merge(pending_.begin(), pending_.begin() + old_size, pending_.end(),
                       [](const auto& a, const auto& b) { return a.step < b.step; });
  }

  const RunStore::StepSink sink_;
  Reporter reporter_;
  std::vector<wire::StepRecord> pending_;
};

// Which steps of a run are stored.
struct RunCoverage {
  void Insert(const Reporter& reporter, std::span<const wire::StepRecord> steps) {
    StepCoverage& own = by_reporter[{reporter.rank, reporter.attempt}];
    for (const wire::StepRecord& record : steps) {
      own.Insert(record.step);
      if (reporter.rank == 0) of_rank_0.Insert(record.step);
    }
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, StepCoverage> by_reporter;
  StepCoverage of_rank_0;  // over all attempts
};

}  // namespace

std::int64_t SystemNowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A run in memory. Small for a finished run: coverage is only there while reports come.
struct RocksRunStore::Entry {
  explicit Entry(v1::Run initial) : name(initial.run()), run(std::move(initial)) {}

  // A process of a rank that opened an attempt.
  struct Attempt {
    std::uint32_t rank;
    std::uint32_t attempt;
    std::string process_key;
  };

  std::uint32_t AttemptsOf(std::uint32_t rank) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const auto found = attempts_by_rank.find(rank);
    return found == attempts_by_rank.end() ? 0 : found->second;
  }

  const Attempt* FindProcess(std::uint32_t rank, std::string_view process_key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (process_key.empty()) return nullptr;
    for (const Attempt& attempt : attempts) {
      if (attempt.rank == rank && attempt.process_key == process_key) return &attempt;
    }
    return nullptr;
  }

  void AddAttempt(const Reporter& reporter, std::string process_key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    attempts.push_back({reporter.rank, reporter.attempt, std::move(process_key)});
    std::uint32_t& count = attempts_by_rank[reporter.rank];
    count = std::max(count, reporter.attempt + 1);
    run.set_attempts(std::max(run.attempts(), count));
  }

  absl::Status CheckTakesReports() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!IsFinished(run)) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("run ", name, " is finished and takes no more reports"));
  }

  absl::Status CheckReporter(const Reporter& reporter) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    absl::Status status = ValidateRank(reporter.rank, run.description().world_size());
    if (!status.ok() || reporter.attempt < AttemptsOf(reporter.rank)) return status;
    return absl::FailedPreconditionError(absl::StrCat("rank ", reporter.rank, " of run ", name,
                                                      " has no attempt ", reporter.attempt,
                                                      ": StartRun opens attempts"));
  }

  absl::Status EnsureCoverage(const RunDatabase& database) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (coverage.has_value()) return absl::OkStatus();
    RunCoverage loaded;
    absl::Status status =
        database.Scan(Family::kSteps, StepPrefix(name), [&](std::string_view key, std::string_view value) {
          const absl::StatusOr<Reporter> reporter = ReporterOfStepBlockKey(key);
          if (!reporter.ok()) return reporter.status();
          const absl::StatusOr<std::vector<wire::StepRecord>> steps = ParseSteps(value);
          if (steps.ok()) loaded.Insert(*reporter, *steps);
          return steps.status();
        });
    if (status.ok()) coverage = std::move(loaded);
    return status;
  }

  std::vector<wire::StepRecord> NotYetStored(const Reporter& reporter,
                                             const std::vector<wire::StepRecord>& steps)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const StepCoverage& own = coverage->by_reporter[{reporter.rank, reporter.attempt}];
    std::vector<wire::StepRecord> fresh;
    fresh.reserve(steps.size());
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(fresh),
                 [&own](const wire::StepRecord& record) { return !own.Contains(record.step); });
    return fresh;
  }

  // What Run.steps becomes once `fresh` is stored.
  std::uint64_t StepsWith(const Reporter& reporter, const std::vector<wire::StepRecord>& fresh) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (reporter.rank != 0) return run.steps();
    const StepCoverage& stored = coverage->of_rank_0;
    return stored.count() +
           static_cast<std::uint64_t>(std::count_if(fresh.begin(), fresh.end(), [&stored](const auto& record) {
             return !stored.Contains(record.step);
           }));
  }

  const std::string name;
  wire::Mutex mutex;
  v1::Run run ABSL_GUARDED_BY(mutex);  // never RUN_STATE_LOST: that depends on when one looks
  std::vector<Attempt> attempts ABSL_GUARDED_BY(mutex);
  std::map<std::uint32_t, std::uint32_t> attempts_by_rank ABSL_GUARDED_BY(mutex);
  std::optional<RunCoverage> coverage ABSL_GUARDED_BY(mutex);
};

RocksRunStore::RocksRunStore(std::unique_ptr<RunDatabase> database, RocksRunStoreOptions options)
    : database_(std::move(database)), options_(std::move(options)) {}

RocksRunStore::~RocksRunStore() = default;

absl::StatusOr<std::unique_ptr<RocksRunStore>> RocksRunStore::Open(const std::string& directory,
                                                                   RocksRunStoreOptions options) {
  absl::StatusOr<std::unique_ptr<RunDatabase>> database = RunDatabase::Open(directory);
  if (!database.ok()) return database.status();
  std::unique_ptr<RocksRunStore> store(new RocksRunStore(*std::move(database), std::move(options)));
  if (absl::Status status = store->Load(); !status.ok()) return status;
  return store;
}

absl::Status RocksRunStore::Load() {
  const auto load_run = [this](std::string_view, std::string_view value) {
    v1::Run run;
    absl::Status status = Parse(value, run);
    if (!status.ok()) return status;
    wire::MutexLock lock(mutex_);
    const std::string name = run.run();
    entries_.emplace(name, std::make_shared<Entry>(std::move(run)));
    return status;
  };
  const auto load_progress = [this](std::string_view key, std::string_view value) {
    absl::StatusOr<EntryPtr> entry = Find(key.substr(kProgressPrefix.size()));
    v1::Run progress;
    absl::Status status = entry.ok() ? Parse(value, progress) : entry.status();
    if (!status.ok()) return status;
    Entry& loaded = **entry;
    wire::MutexLock lock(loaded.mutex);
    loaded.run.MergeFrom(progress);
    return status;
  };
  const auto load_key = [this](std::string_view key, std::string_view value) {
    wire::MutexLock lock(start_mutex_);
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
    const absl::StatusOr<Reporter> reporter = ReporterOfAttemptKey(key);
    if (!reporter.ok()) return reporter.status();
    absl::StatusOr<EntryPtr> entry = Find(reporter->run);
    v1::StartRunRequest request;
    absl::Status status = entry.ok() ? Parse(value, request) : entry.status();
    if (!status.ok()) return status;
    Entry& loaded = **entry;
    wire::MutexLock lock(loaded.mutex);
    loaded.AddAttempt(*reporter, request.process_key());
    return status;
  });
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::Start(const v1::StartRunRequest& request) {
  if (absl::Status status = ValidateStart(request); !status.ok()) return status;
  wire::MutexLock lock(start_mutex_);
  const auto known = names_by_key_.find(request.idempotency_key());
  if (known == names_by_key_.end()) return StartNew(request);
  absl::StatusOr<EntryPtr> entry = Find(known->second);
  if (!entry.ok()) return entry.status();
  return Join(**entry, request);
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::StartNew(const v1::StartRunRequest& request) {
  const std::int64_t now = options_.now_ms();
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
                       Durability::kDisk);
  if (!status.ok()) return status;

  v1::StartRunResponse response;
  response.set_run(run.run());
  names_by_key_.emplace(request.idempotency_key(), run.run());
  auto entry = std::make_shared<Entry>(std::move(run));
  {
    wire::MutexLock lock(entry->mutex);
    entry->AddAttempt(reporter, request.process_key());
    entry->coverage.emplace();
  }
  wire::MutexLock lock(mutex_);
  entries_.emplace(reporter.run, std::move(entry));
  return response;
}

absl::StatusOr<v1::StartRunResponse> RocksRunStore::Join(Entry& entry, const v1::StartRunRequest& request) {
  wire::MutexLock lock(entry.mutex);
  absl::Status status = ValidateRank(request.rank(), entry.run.description().world_size());
  if (!status.ok()) return status;
  v1::StartRunResponse response;
  response.set_run(entry.name);
  if (const Entry::Attempt* known = entry.FindProcess(request.rank(), request.process_key())) {
    response.set_attempt(known->attempt);
    return response;
  }
  const Reporter reporter{entry.name, request.rank(), entry.AttemptsOf(request.rank())};
  const std::int64_t now = options_.now_ms();
  v1::Run run = entry.run;
  run.set_state(v1::RUN_STATE_RUNNING);
  run.set_last_report_ms(now);
  run.clear_finished_ms();
  run.clear_message();
  status = database_->Write(
      {DescriptionEntry(run), ProgressEntry(entry.name, run.steps(), now), AttemptEntry(reporter, request)},
      Durability::kDisk);
  if (!status.ok()) return status;
  entry.run = std::move(run);
  entry.AddAttempt(reporter, request.process_key());
  response.set_attempt(reporter.attempt);
  return response;
}

std::string RocksRunStore::NewName(std::string_view key, std::int64_t now_ms) const {
  const std::string time = absl::FormatTime("%Y%m%d-%H%M%S", absl::FromUnixMillis(now_ms), absl::UTCTimeZone());
  wire::MutexLock lock(mutex_);
  for (int attempt = 0;; ++attempt) {
    std::string name = absl::StrCat(time, "-", Suffix(key, attempt));
    if (entries_.find(name) == entries_.end()) return name;
  }
}

absl::StatusOr<RocksRunStore::EntryPtr> RocksRunStore::Find(std::string_view run) const {
  wire::MutexLock lock(mutex_);
  const auto found = entries_.find(run);
  if (found != entries_.end()) return found->second;
  return absl::NotFoundError(absl::StrCat("no run ", std::string(run)));
}

absl::StatusOr<RocksRunStore::EntryPtr> RocksRunStore::FindByPrefix(std::string_view prefix) const {
  if (prefix.empty()) return absl::InvalidArgumentError("the run's name is empty");
  wire::MutexLock lock(mutex_);
  const auto first = entries_.lower_bound(prefix);
  std::vector<std::string> candidates;
  for (auto it = first; it != entries_.end() && it->first.starts_with(prefix); ++it) {
    if (it->first == prefix) return it->second;
    if (candidates.size() < kMaxCandidatesShown) candidates.push_back(it->first);
  }
  if (candidates.size() == 1) return first->second;
  if (candidates.empty()) return absl::NotFoundError(absl::StrCat("no run ", std::string(prefix)));
  return absl::InvalidArgumentError(absl::StrCat("several runs begin with ", std::string(prefix), ": ",
                                                 absl::StrJoin(candidates, ", "),
                                                 candidates.size() == kMaxCandidatesShown ? ", ..." : ""));
}

absl::StatusOr<std::uint64_t> RocksRunStore::AddSteps(const Reporter& reporter,
                                                      const std::vector<wire::StepRecord>& steps) {
  if (absl::Status status = ValidateSteps(steps); !status.ok()) return status;
  absl::StatusOr<EntryPtr> found = Find(reporter.run);
  if (!found.ok()) return found.status();
  Entry& entry = **found;
  wire::MutexLock lock(entry.mutex);
  absl::Status status = entry.CheckTakesReports();
  if (status.ok()) status = entry.CheckReporter(reporter);
  if (status.ok()) status = entry.EnsureCoverage(*database_);
  if (!status.ok()) return status;

  const std::vector<wire::StepRecord> fresh = entry.NotYetStored(reporter, steps);
  const std::uint64_t count = entry.StepsWith(reporter, fresh);
  const std::int64_t now = options_.now_ms();
  std::vector<KeyValue> entries = {ProgressEntry(entry.name, count, now)};
  if (!fresh.empty()) {
    entries.push_back({Family::kSteps, StepBlockKey(reporter, fresh.front().step),
                       wire::ToStepBlock(fresh).SerializeAsString()});
  }
  status = database_->Write(entries, Durability::kProcess);
  if (!status.ok()) return status;
  entry.coverage->Insert(reporter, fresh);
  entry.run.set_steps(count);
  entry.run.set_last_report_ms(now);
  return *entry.coverage->by_reporter[{reporter.rank, reporter.attempt}].last();
}

absl::Status RocksRunStore::AddReport(std::string_view run, const Reporter* reporter,
                                      std::vector<KeyValue> entries) {
  absl::StatusOr<EntryPtr> found = Find(run);
  if (!found.ok()) return found.status();
  Entry& entry = **found;
  wire::MutexLock lock(entry.mutex);
  absl::Status status = entry.CheckTakesReports();
  if (status.ok() && reporter != nullptr) status = entry.CheckReporter(*reporter);
  if (!status.ok()) return status;
  const std::int64_t now = options_.now_ms();
  entries.push_back(ProgressEntry(entry.name, entry.run.steps(), now));
  status = database_->Write(entries, Durability::kProcess);
  if (status.ok()) entry.run.set_last_report_ms(now);
  return status;
}

absl::Status RocksRunStore::AddEvaluation(std::string_view run, const v1::Evaluation& evaluation) {
  if (absl::Status status = ValidateEvaluation(evaluation); !status.ok()) return status;
  return AddReport(run, nullptr,
                   {{Family::kRuns, EvaluationKey(run, evaluation.step(), evaluation.split()),
                     evaluation.SerializeAsString()}});
}

absl::Status RocksRunStore::AddSamples(const Reporter& reporter, const std::vector<v1::Sample>& samples) {
  if (absl::Status status = ValidateSamples(samples); !status.ok()) return status;
  std::vector<KeyValue> entries;
  for (const v1::Sample& sample : samples) {
    entries.push_back({Family::kSamples, SampleKey(reporter, sample.time_ns()), sample.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::Status RocksRunStore::AddEvents(const Reporter& reporter, const std::vector<v1::Event>& events) {
  if (absl::Status status = ValidateEvents(events); !status.ok()) return status;
  std::vector<KeyValue> entries;
  for (const v1::Event& event : events) {
    entries.push_back(
        {Family::kSamples, EventKey(reporter, event.start_ns(), event.name()), event.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::Status RocksRunStore::Finish(std::string_view run, v1::RunState state, std::string_view message) {
  if (absl::Status status = ValidateFinish(state, message); !status.ok()) return status;
  absl::StatusOr<EntryPtr> found = Find(run);
  if (!found.ok()) return found.status();
  Entry& entry = **found;
  wire::MutexLock lock(entry.mutex);
  if (entry.run.state() == state) return absl::OkStatus();
  if (absl::Status status = entry.CheckTakesReports(); !status.ok()) return status;
  v1::Run finished = entry.run;
  finished.set_state(state);
  finished.set_message(std::string(message));
  finished.set_finished_ms(options_.now_ms());
  absl::Status status = database_->Write({DescriptionEntry(finished)}, Durability::kDisk);
  if (!status.ok()) return status;
  entry.run = std::move(finished);
  entry.coverage.reset();
  return status;
}

v1::Run RocksRunStore::Snapshot(Entry& entry) const {
  wire::MutexLock lock(entry.mutex);
  v1::Run run = entry.run;
  const bool silent = options_.now_ms() - run.last_report_ms() > options_.lost_after_ms;
  if (!IsFinished(run) && silent) run.set_state(v1::RUN_STATE_LOST);
  return run;
}

absl::StatusOr<v1::Run> RocksRunStore::Get(std::string_view run) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  return Snapshot(**entry);
}

absl::StatusOr<std::vector<v1::Run>> RocksRunStore::List() const {
  std::vector<EntryPtr> entries;
  {
    wire::MutexLock lock(mutex_);
    for (const auto& [name, entry] : entries_) entries.push_back(entry);
  }
  std::vector<v1::Run> runs;
  runs.reserve(entries.size());
  for (const EntryPtr& entry : entries) runs.push_back(Snapshot(*entry));
  std::stable_sort(runs.begin(), runs.end(),
                   [](const v1::Run& a, const v1::Run& b) { return a.started_ms() > b.started_ms(); });
  return runs;
}

absl::Status RocksRunStore::ReadSteps(std::string_view run, StepSink sink) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  BlockMerger merger(sink);
  absl::Status status = database_->Scan(
      Family::kSteps, StepPrefix((*entry)->name), [&merger](std::string_view key, std::string_view value) {
        absl::StatusOr<Reporter> reporter = ReporterOfStepBlockKey(key);
        if (!reporter.ok()) return reporter.status();
        absl::StatusOr<std::vector<wire::StepRecord>> steps = ParseSteps(value);
        if (!steps.ok()) return steps.status();
        return merger.Add(*std::move(reporter), *std::move(steps));
      });
  return status.ok() ? merger.Flush() : status;
}

absl::StatusOr<std::vector<v1::Evaluation>> RocksRunStore::ReadEvaluations(std::string_view run) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  std::vector<v1::Evaluation> evaluations;
  absl::Status status = database_->Scan(Family::kRuns, EvaluationPrefix((*entry)->name),
                                        [&evaluations](std::string_view, std::string_view value) {
                                          return Parse(value, evaluations.emplace_back());
                                        });
  if (!status.ok()) return status;
  return evaluations;
}

absl::StatusOr<std::vector<v1::Sample>> RocksRunStore::ReadSamples(std::string_view run) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  std::vector<v1::Sample> samples;
  absl::Status status = database_->Scan(
      Family::kSamples, SamplePrefix((*entry)->name),
      [&samples](std::string_view, std::string_view value) { return Parse(value, samples.emplace_back()); });
  if (!status.ok()) return status;
  return samples;
}

}  // namespace packtrain::runs
