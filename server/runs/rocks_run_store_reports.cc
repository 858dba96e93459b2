// What is reported of a run beside its steps.
#include <utility>

#include "proto/base/status_macros.h"
#include "server/runs/rocks_run_store.h"
#include "server/runs/run_entry.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {

absl::Status RocksRunStore::AddReport(std::string_view run, const Reporter* reporter,
                                      std::vector<rocks::Change> entries) {
  ABSL_ASSIGN_OR_RETURN(EntryPtr found, Find(run));
  RunEntry& entry = *found;
  base::MutexLock lock(entry.mutex);
  absl::Status status = entry.CheckTakesReports();
  if (status.ok() && reporter != nullptr) status = entry.CheckReporter(*reporter);
  ABSL_RETURN_IF_ERROR(status);
  const std::int64_t now = clock_.NowMs();
  entries.push_back(ProgressEntry(entry.name, entry.run.steps(), now));
  status = database_->Write(entries, rocks::Durability::kProcess);
  if (status.ok()) entry.run.set_last_report_ms(now);
  return status;
}

absl::Status RocksRunStore::AddEvaluation(std::string_view run, const v1::Evaluation& evaluation) {
  ABSL_RETURN_IF_ERROR(ValidateEvaluation(evaluation));
  return AddReport(run, nullptr,
                   {{Family::kRuns, EvaluationKey(run, evaluation.step(), evaluation.split()),
                     evaluation.SerializeAsString()}});
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
    entries.push_back({Family::kSamples, CorruptGraphsKey(reporter.run, batch), batch.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::StatusOr<std::vector<v1::Evaluation>> RocksRunStore::ReadEvaluations(std::string_view run) const {
  ABSL_ASSIGN_OR_RETURN(EntryPtr entry, FindByPrefix(run));
  std::vector<v1::Evaluation> evaluations;
  absl::Status status = database_->Scan(Family::kRuns, EvaluationPrefix(entry->name),
                                        [&evaluations](std::string_view, std::string_view value) {
                                          return ParseRecord(value, evaluations.emplace_back());
                                        });
  ABSL_RETURN_IF_ERROR(status);
  return evaluations;
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
                         [&sink](std::string_view, std::string_view value) {
                           v1::Event event;
                           absl::Status status = ParseRecord(value, event);
                           return status.ok() ? sink(event) : status;
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
