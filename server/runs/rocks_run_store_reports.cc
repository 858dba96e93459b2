// What is reported of a run beside its steps.
#include <utility>

#include "server/runs/rocks_run_store.h"
#include "server/runs/run_entry.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"

namespace packtrain::runs {

absl::Status RocksRunStore::AddReport(std::string_view run, const Reporter* reporter,
                                      std::vector<KeyValue> entries) {
  absl::StatusOr<EntryPtr> found = Find(run);
  if (!found.ok()) return found.status();
  RunEntry& entry = **found;
  base::MutexLock lock(entry.mutex);
  absl::Status status = entry.CheckTakesReports();
  if (status.ok() && reporter != nullptr) status = entry.CheckReporter(*reporter);
  if (!status.ok()) return status;
  const std::int64_t now = clock_.NowMs();
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
  entries.reserve(samples.size());
  for (const v1::Sample& sample : samples) {
    entries.push_back({Family::kSamples, SampleKey(reporter, sample.time_ns()), sample.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::Status RocksRunStore::AddEvents(const Reporter& reporter, const std::vector<v1::Event>& events) {
  if (absl::Status status = ValidateEvents(events); !status.ok()) return status;
  std::vector<KeyValue> entries;
  entries.reserve(events.size());
  for (const v1::Event& event : events) {
    entries.push_back(
        {Family::kSamples, EventKey(reporter, event.start_ns(), event.name()), event.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::Status RocksRunStore::AddCorruptGraphs(const Reporter& reporter,
                                             const std::vector<v1::CorruptGraphs>& batches) {
  if (absl::Status status = ValidateCorruptGraphs(batches); !status.ok()) return status;
  std::vector<KeyValue> entries;
  entries.reserve(batches.size());
  for (const v1::CorruptGraphs& batch : batches) {
    entries.push_back({Family::kSamples, CorruptGraphsKey(reporter.run, batch), batch.SerializeAsString()});
  }
  return AddReport(reporter.run, &reporter, std::move(entries));
}

absl::StatusOr<std::vector<v1::Evaluation>> RocksRunStore::ReadEvaluations(std::string_view run) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  std::vector<v1::Evaluation> evaluations;
  absl::Status status = database_->Scan(Family::kRuns, EvaluationPrefix((*entry)->name),
                                        [&evaluations](std::string_view, std::string_view value) {
                                          return ParseRecord(value, evaluations.emplace_back());
                                        });
  if (!status.ok()) return status;
  return evaluations;
}

absl::Status RocksRunStore::ReadSamples(std::string_view run, SampleSink sink) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  return database_->Scan(Family::kSamples, SamplePrefix((*entry)->name),
                         [&sink](std::string_view key, std::string_view value) {
                           const absl::StatusOr<Reporter> reporter = ReporterOfSampleKey(key);
                           if (!reporter.ok()) return reporter.status();
                           v1::Sample sample;
                           if (absl::Status status = ParseRecord(value, sample); !status.ok()) return status;
                           return sink(*reporter, sample);
                         });
}

absl::Status RocksRunStore::ReadEvents(std::string_view run, EventSink sink) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  return database_->Scan(Family::kSamples, EventPrefix((*entry)->name),
                         [&sink](std::string_view, std::string_view value) {
                           v1::Event event;
                           absl::Status status = ParseRecord(value, event);
                           return status.ok() ? sink(event) : status;
                         });
}

absl::Status RocksRunStore::ReadCorruptGraphs(std::string_view run, CorruptGraphsSink sink) const {
  absl::StatusOr<EntryPtr> entry = FindByPrefix(run);
  if (!entry.ok()) return entry.status();
  return database_->Scan(Family::kSamples, CorruptGraphsPrefix((*entry)->name),
                         [&sink](std::string_view, std::string_view value) {
                           v1::CorruptGraphs batch;
                           absl::Status status = ParseRecord(value, batch);
                           return status.ok() ? sink(batch) : status;
                         });
}

}  // namespace packtrain::runs
