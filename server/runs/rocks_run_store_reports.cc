// What is reported of a run beside its steps.
#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/runs/rocks_run_store.h"
#include "server/runs/run_entry.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"
#include "server/runs/stored_attempts.h"

namespace packtrain::runs {

absl::Status RocksRunStore::Report(RunEntry& entry, const Reporter* reporter,
                                   std::vector<rocks::Change> entries) {
  if (reporter != nullptr) {
    ABSL_RETURN_IF_ERROR(FindReporter(entry, *reporter).status());
  }
  std::uint64_t steps = 0;
  {
    base::MutexLock lock(entry.mutex);
    ABSL_RETURN_IF_ERROR(entry.CheckTakesReports());
    steps = entry.run.steps();
  }
  const std::int64_t date_ms = DateIn(entry);
  entries.push_back(ProgressEntry(entry.name, steps, date_ms));
  ABSL_RETURN_IF_ERROR(database_->Write(entries, rocks::Durability::kProcess));
  NoteReport(entry, steps, date_ms);
  return absl::OkStatus();
}

absl::Status RocksRunStore::AddReport(std::string_view run, const Reporter* reporter,
                                      std::vector<rocks::Change> entries) {
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(run));
  RunEntry& entry = *found;
  base::MutexLock reports(entry.reports);
  return Report(entry, reporter, std::move(entries));
}

absl::Status RocksRunStore::AddEvaluation(std::string_view run, const v1::Evaluation& evaluation) {
  ABSL_RETURN_IF_ERROR(ValidateEvaluation(evaluation));
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(run));
  RunEntry& entry = *found;
  base::MutexLock reports(entry.reports);
  const Reporter reporter{entry.name, 0, evaluation.attempt()};
  v1::Evaluation stored = evaluation;
  if (!evaluation.has_attempt()) {
    ABSL_ASSIGN_OR_RETURN(const AttemptNumbers attempts, FindAttempts(*database_, entry.name, /*rank=*/0, ""));
    stored.set_attempt(std::max(1u, attempts.next) - 1);
  }
  return Report(entry, evaluation.has_attempt() ? &reporter : nullptr,
                {{Family::kRuns, EvaluationKey(run, stored), stored.SerializeAsString()}});
}

absl::Status RocksRunStore::AddLostRecords(const Reporter& reporter, std::uint64_t records) {
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(reporter.run));
  RunEntry& entry = *found;
  base::MutexLock reports(entry.reports);
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t known, LostRecordsOf(*database_, reporter));
  v1::ReportLostRecordsRequest lost;
  lost.set_records(std::max(records, known));
  ABSL_RETURN_IF_ERROR(
      Report(entry, &reporter, {{Family::kRuns, LostRecordsKey(reporter), lost.SerializeAsString()}}));
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t of_run, LostRecordsOfRun(*database_, entry.name));
  base::MutexLock lock(entry.mutex);
  entry.run.set_lost_records(of_run);
  return absl::OkStatus();
}

absl::Status RocksRunStore::AddSamples(const Reporter& reporter, const std::vector<v1::Sample>& samples) {
  ABSL_RETURN_IF_ERROR(ValidateSamples(samples));
  std::vector<rocks::Change> entries;
  entries.reserve(samples.size());
  for (const v1::Sample& sample : samples) {
    entries.push_back({Family::kSamples, SampleKey(reporter, sample.time_ns()), sample.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::Status RocksRunStore::AddEvents(const Reporter& reporter, const std::vector<v1::Event>& events) {
  ABSL_RETURN_IF_ERROR(ValidateEvents(events));
  std::vector<rocks::Change> entries;
  entries.reserve(events.size());
  for (const v1::Event& event : events) {
    entries.push_back(
        {Family::kSamples, EventKey(reporter, event.start_ns(), event.name()), event.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::Status RocksRunStore::AddCorruptGraphs(const Reporter& reporter,
                                             const std::vector<v1::CorruptGraphs>& batches) {
  ABSL_RETURN_IF_ERROR(ValidateCorruptGraphs(batches));
  std::vector<rocks::Change> entries;
  entries.reserve(batches.size());
  for (const v1::CorruptGraphs& batch : batches) {
    v1::CorruptGraphs stored = batch;
    stored.set_rank(reporter.rank);
    stored.set_attempt(reporter.attempt);
    entries.push_back({Family::kSamples, CorruptGraphsKey(reporter.run, batch), stored.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::Status RocksRunStore::ReadEvaluations(std::string_view run, EvaluationSink sink) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  return database_->Scan(Family::kRuns, EvaluationPrefix(entry->name),
                         [&sink](std::string_view, std::string_view value) {
                           v1::Evaluation evaluation;
                           ABSL_RETURN_IF_ERROR(ParseRecord(value, evaluation));
                           return sink(std::move(evaluation));
                         });
}

absl::Status RocksRunStore::ReadSamples(std::string_view run, SampleSink sink) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  return database_->Scan(Family::kSamples, SamplePrefix(entry->name),
                         [&sink](std::string_view key, std::string_view value) {
                           ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfSampleKey(key));
                           v1::Sample sample;
                           ABSL_RETURN_IF_ERROR(ParseRecord(value, sample));
                           return sink(reporter, sample);
                         });
}

absl::Status RocksRunStore::ReadEvents(std::string_view run, EventSink sink) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  return database_->Scan(Family::kSamples, EventPrefix(entry->name),
                         [&sink](std::string_view key, std::string_view value) {
                           ABSL_ASSIGN_OR_RETURN(const Reporter reporter, ReporterOfEventKey(key));
                           v1::Event event;
                           ABSL_RETURN_IF_ERROR(ParseRecord(value, event));
                           return sink(reporter, event);
                         });
}

absl::Status RocksRunStore::ReadCorruptGraphs(std::string_view run, CorruptGraphsSink sink) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  return database_->Scan(Family::kSamples, CorruptGraphsPrefix(entry->name),
                         [&sink](std::string_view, std::string_view value) {
                           v1::CorruptGraphs batch;
                           absl::Status status = ParseRecord(value, batch);
                           return status.ok() ? sink(batch) : status;
                         });
}

}  // namespace packtrain::runs
