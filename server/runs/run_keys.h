// Keys of the run database, and their only definition. Numbers are big-endian, so that bytes sort as
// numbers do. NAME is a run's name, which holds no zero byte.
//
//   family   key                                  value
//   runs     d NAME                               Run without steps, last_report_ms and lost_records
//   runs     p NAME                               Run with these two only, written with each report
//   runs     k IDEMPOTENCY_KEY                    NAME
//   runs     a NAME 0 rank:4 attempt:4            StartRunRequest of the attempt, without description
//   runs     o NAME                               place:8 in the order of the list; older runs have none
//   runs     e NAME 0 step:8 SPLIT 0 attempt:4    Evaluation
//   runs     e NAME 0 step:8 SPLIT                Evaluation of an older server: one for all attempts
//   runs     l NAME 0 rank:4 attempt:4            ReportLostRecordsRequest
//   steps    NAME 0 rank:4 attempt:4 step:8       StepBlock that starts with this step
//   samples  s NAME 0 rank:4 attempt:4 time:8     Sample
//   samples  e NAME 0 rank:4 attempt:4 start:8 EVENT_NAME   Event
//   samples  c NAME 0 step:8 epoch:8 batch:8 SPLIT          CorruptGraphs
#ifndef PACKTRAIN_SERVER_RUNS_RUN_KEYS_H_
#define PACKTRAIN_SERVER_RUNS_RUN_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

std::string DescriptionKey(std::string_view run);
std::string ProgressKey(std::string_view run);
std::string IdempotencyKey(std::string_view key);
std::string AttemptKey(const Reporter& reporter);
std::string PlaceKey(std::string_view run);
// Of the attempt that `evaluation` names.
std::string EvaluationKey(std::string_view run, const v1::Evaluation& evaluation);
std::string LostRecordsKey(const Reporter& reporter);
std::string StepBlockKey(const Reporter& reporter, std::uint64_t first_step);
// `time_ns` is at least 0.
std::string SampleKey(const Reporter& reporter, std::int64_t time_ns);
std::string EventKey(const Reporter& reporter, std::int64_t start_ns, std::string_view name);

// What all keys of a kind begin with, for all runs or for one.
inline constexpr std::string_view kDescriptionPrefix = "d";
inline constexpr std::string_view kProgressPrefix = "p";
inline constexpr std::string_view kIdempotencyPrefix = "k";
inline constexpr std::string_view kAttemptPrefix = "a";
inline constexpr std::string_view kPlacePrefix = "o";
inline constexpr std::string_view kLostRecordsPrefix = "l";
std::string CorruptGraphsKey(std::string_view run, const v1::CorruptGraphs& graphs);
std::string AttemptPrefix(std::string_view run);
std::string AttemptPrefix(std::string_view run, std::uint32_t rank);
std::string LostRecordsPrefix(std::string_view run);
std::string EvaluationPrefix(std::string_view run);
std::string StepPrefix(std::string_view run);
std::string SamplePrefix(std::string_view run);
std::string EventPrefix(std::string_view run);
std::string CorruptGraphsPrefix(std::string_view run);

// The reporter in the key of an attempt, of its lost records, of a step block, a sample or an event. DATA_LOSS:
// the key is none.
absl::StatusOr<Reporter> ReporterOfAttemptKey(std::string_view key);
absl::StatusOr<Reporter> ReporterOfStepBlockKey(std::string_view key);
absl::StatusOr<Reporter> ReporterOfSampleKey(std::string_view key);
absl::StatusOr<Reporter> ReporterOfEventKey(std::string_view key);
absl::StatusOr<Reporter> ReporterOfLostRecordsKey(std::string_view key);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_KEYS_H_
