#include "server/runs/run_keys.h"

#include <cstddef>

#include "absl/status/status.h"
#include "server/rocks/big_endian.h"

namespace packtrain::runs {
namespace {

std::string RunPrefix(std::string_view kind, std::string_view run) {
  std::string key(kind);
  key.append(run);
  key.push_back('\0');
  return key;
}

std::string ReporterPrefix(std::string_view kind, const Reporter& reporter) {
  std::string key = RunPrefix(kind, reporter.run);
  rocks::AppendBigEndian(reporter.rank, key);
  rocks::AppendBigEndian(reporter.attempt, key);
  return key;
}

constexpr std::string_view kSamplePrefix = "s";
constexpr std::string_view kEventPrefix = "e";
constexpr std::string_view kCorruptGraphsPrefix = "c";

absl::Status UnknownForm() { return absl::DataLossError("the run database holds a key of unknown form"); }

// `key` is NAME 0 rank:4 attempt:4 and at least `rest` more bytes; `exactly` so many where nothing may follow.
absl::StatusOr<Reporter> ParseReporter(std::string_view key, std::size_t rest, bool exactly = true) {
  const std::size_t name_size = key.find('\0');
  if (name_size == std::string_view::npos) return UnknownForm();
  const std::size_t min_size = name_size + 1 + 8 + rest;
  if (exactly ? key.size() != min_size : key.size() < min_size) return UnknownForm();
  const std::string_view numbers = key.substr(name_size + 1);
  return Reporter{std::string(key.substr(0, name_size)), *rocks::ParseBigEndian<std::uint32_t>(numbers),
                  *rocks::ParseBigEndian<std::uint32_t>(numbers.substr(4))};
}

}  // namespace

std::string DescriptionKey(std::string_view run) { return std::string(kDescriptionPrefix).append(run); }

std::string ProgressKey(std::string_view run) { return std::string(kProgressPrefix).append(run); }

std::string IdempotencyKey(std::string_view key) { return std::string(kIdempotencyPrefix).append(key); }

std::string AttemptKey(const Reporter& reporter) { return ReporterPrefix(kAttemptPrefix, reporter); }

std::string PlaceKey(std::string_view run) { return std::string(kPlacePrefix).append(run); }

std::string EvaluationKey(std::string_view run, const v1::Evaluation& evaluation) {
  std::string key = EvaluationPrefix(run);
  rocks::AppendBigEndian(std::uint64_t{evaluation.step()}, key);
  key.append(evaluation.split());
  key.push_back('\0');
  rocks::AppendBigEndian(std::uint32_t{evaluation.attempt()}, key);
  return key;
}

std::string LostRecordsKey(const Reporter& reporter) { return ReporterPrefix(kLostRecordsPrefix, reporter); }

std::string StepBlockKey(const Reporter& reporter, std::uint64_t first_step) {
  std::string key = ReporterPrefix("", reporter);
  rocks::AppendBigEndian(first_step, key);
  return key;
}

std::string SampleKey(const Reporter& reporter, std::int64_t time_ns) {
  std::string key = ReporterPrefix(kSamplePrefix, reporter);
  rocks::AppendBigEndian(static_cast<std::uint64_t>(time_ns), key);
  return key;
}

std::string EventKey(const Reporter& reporter, std::int64_t start_ns, std::string_view name) {
  std::string key = ReporterPrefix(kEventPrefix, reporter);
  rocks::AppendBigEndian(static_cast<std::uint64_t>(start_ns), key);
  return key.append(name);
}

std::string CorruptGraphsKey(std::string_view run, const v1::CorruptGraphs& graphs) {
  std::string key = CorruptGraphsPrefix(run);
  for (const std::uint64_t number : {graphs.step(), graphs.epoch(), graphs.batch_index()}) {
    rocks::AppendBigEndian(number, key);
  }
  return key.append(graphs.split());
}

std::string AttemptPrefix(std::string_view run) { return RunPrefix(kAttemptPrefix, run); }

std::string AttemptPrefix(std::string_view run, std::uint32_t rank) {
  std::string prefix = AttemptPrefix(run);
  rocks::AppendBigEndian(rank, prefix);
  return prefix;
}

std::string LostRecordsPrefix(std::string_view run) { return RunPrefix(kLostRecordsPrefix, run); }

std::string EvaluationPrefix(std::string_view run) { return RunPrefix("e", run); }

std::string StepPrefix(std::string_view run) { return RunPrefix("", run); }

std::string SamplePrefix(std::string_view run) { return RunPrefix(kSamplePrefix, run); }

std::string EventPrefix(std::string_view run) { return RunPrefix(kEventPrefix, run); }

std::string CorruptGraphsPrefix(std::string_view run) { return RunPrefix(kCorruptGraphsPrefix, run); }

absl::StatusOr<Reporter> ReporterOfAttemptKey(std::string_view key) {
  if (!key.starts_with(kAttemptPrefix)) return UnknownForm();
  return ParseReporter(key.substr(kAttemptPrefix.size()), 0);
}

absl::StatusOr<Reporter> ReporterOfStepBlockKey(std::string_view key) { return ParseReporter(key, 8); }

absl::StatusOr<Reporter> ReporterOfSampleKey(std::string_view key) {
  if (!key.starts_with(kSamplePrefix)) return UnknownForm();
  return ParseReporter(key.substr(kSamplePrefix.size()), 8);
}

absl::StatusOr<Reporter> ReporterOfEventKey(std::string_view key) {
  if (!key.starts_with(kEventPrefix)) return UnknownForm();
  return ParseReporter(key.substr(kEventPrefix.size()), 8, /*exactly=*/false);
}

absl::StatusOr<Reporter> ReporterOfLostRecordsKey(std::string_view key) {
  if (!key.starts_with(kLostRecordsPrefix)) return UnknownForm();
  return ParseReporter(key.substr(kLostRecordsPrefix.size()), 0);
}

}  // namespace packtrain::runs
