#include "server/runs/run_keys.h"

#include <cstddef>

#include "absl/status/status.h"

namespace packtrain::runs {
namespace {

template <typename T>
void AppendBigEndian(std::string& key, T value) {
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
    key.push_back(static_cast<char>(value >> shift));
  }
}

std::uint32_t BigEndian32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::string RunPrefix(std::string_view kind, std::string_view run) {
  std::string key(kind);
  key.append(run);
  key.push_back('\0');
  return key;
}

std::string ReporterPrefix(std::string_view kind, const Reporter& reporter) {
  std::string key = RunPrefix(kind, reporter.run);
  AppendBigEndian(key, reporter.rank);
  AppendBigEndian(key, reporter.attempt);
  return key;
}

// `key` is NAME 0 rank:4 attempt:4 and `rest` more bytes.
absl::StatusOr<Reporter> ParseReporter(std::string_view key, std::size_t rest) {
  const std::size_t name_size = key.find('\0');
  if (name_size == std::string_view::npos || key.size() != name_size + 1 + 8 + rest) {
    return absl::DataLossError("the run database holds a key of unknown form");
  }
  const std::string_view numbers = key.substr(name_size + 1);
  return Reporter{std::string(key.substr(0, name_size)), BigEndian32(numbers), BigEndian32(numbers.substr(4))};
}

}  // namespace

std::string DescriptionKey(std::string_view run) { return std::string(kDescriptionPrefix).append(run); }

std::string ProgressKey(std::string_view run) { return std::string(kProgressPrefix).append(run); }

std::string IdempotencyKey(std::string_view key) { return std::string(kIdempotencyPrefix).append(key); }

std::string AttemptKey(const Reporter& reporter) { return ReporterPrefix(kAttemptPrefix, reporter); }

std::string EvaluationKey(std::string_view run, std::uint64_t step, std::string_view split) {
  std::string key = EvaluationPrefix(run);
  AppendBigEndian(key, step);
  return key.append(split);
}

std::string StepBlockKey(const Reporter& reporter, std::uint64_t first_step) {
  std::string key = ReporterPrefix("", reporter);
  AppendBigEndian(key, first_step);
  return key;
}

std::string SampleKey(const Reporter& reporter, std::int64_t time_ns) {
  std::string key = ReporterPrefix("s", reporter);
  AppendBigEndian(key, static_cast<std::uint64_t>(time_ns));
  return key;
}

std::string EventKey(const Reporter& reporter, std::int64_t start_ns, std::string_view name) {
  std::string key = ReporterPrefix("e", reporter);
  AppendBigEndian(key, static_cast<std::uint64_t>(start_ns));
  return key.append(name);
}

std::string EvaluationPrefix(std::string_view run) { return RunPrefix("e", run); }

std::string StepPrefix(std::string_view run) { return RunPrefix("", run); }

std::string SamplePrefix(std::string_view run) { return RunPrefix("s", run); }

absl::StatusOr<Reporter> ReporterOfAttemptKey(std::string_view key) {
  return ParseReporter(key.substr(kAttemptPrefix.size()), 0);
}

absl::StatusOr<Reporter> ReporterOfStepBlockKey(std::string_view key) { return ParseReporter(key, 8); }

}  // namespace packtrain::runs
