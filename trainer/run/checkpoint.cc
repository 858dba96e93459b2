#include "trainer/run/checkpoint.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_columns.h"

namespace packtrain::trainer {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

constexpr std::string_view kMagic = "PTRAINCK";
// Format 1 held the time of every steady step, and no attempts of evaluations; formats 1 and 2 held no counts
// of lost records, formats 1 to 3 no accuracies, and formats 1 to 4 no errors of filters. trainer/CHECKPOINT.md
// describes all.
constexpr std::uint32_t kOldestFormat = 1;
constexpr std::uint32_t kFormat = 5;
// Of step records in format 1. Later columns stand behind these, and a checkpoint says how many it has.
constexpr std::uint32_t kStepColumnsOfFormat1 = 21;
// That any program to come may write.
constexpr std::uint32_t kMaxStepColumns = 1000;
constexpr std::uint32_t kNoAttempt = std::numeric_limits<std::uint32_t>::max();
// What unsent steps take of a checkpoint.
constexpr std::uint64_t kStepBytes = 140;
constexpr std::uint64_t kLeastUnsentBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostUnsentBytes = std::uint64_t{4} << 30;
constexpr std::size_t kHeadBytes = kMagic.size() + sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kCrcBytes = sizeof(std::uint32_t);

template <typename T>
concept Number = std::is_arithmetic_v<T>;

// Appends fields to bytes.
class Writer {
 public:
  template <typename... T>
  void operator()(const T&... fields) {
    (Write(fields), ...);
  }

  std::string bytes;
  const std::uint32_t step_columns = wire::kStepColumnCount;

 private:
  template <Number T>
  void Write(const T& number) {
    Append(&number, sizeof(number));
  }
  template <Number T>
  void Write(const std::vector<T>& numbers) {
    Write(std::uint64_t{numbers.size()});
    Append(numbers.data(), numbers.size() * sizeof(T));
  }
  void Write(const std::string& text) {
    Write(std::uint64_t{text.size()});
    bytes += text;
  }
  template <typename T>
  void Write(const std::vector<T>& records) {
    Write(std::uint64_t{records.size()});
    for (const T& record : records) Write(record);
  }
  template <typename T>
  void Write(const T& record) {
    Fields(*this, record);
  }

  void Append(const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); }
};

// Takes fields off the front of bytes. After the first field that they do not hold, it gives zeros.
class Reader {
 public:
  Reader(std::string_view bytes, std::uint32_t bytes_format) : format(bytes_format), bytes_(bytes) {}

  template <typename... T>
  void operator()(T&... fields) {
    (Read(fields), ...);
  }

  // DATA_LOSS unless every field was there and nothing is after them, or what Refuse was given.
  absl::Status End() const {
    if (!refusal_.ok()) return refusal_;
    if (!failed_ && bytes_.empty()) return absl::OkStatus();
    return absl::DataLossError("its fields do not fill its content");
  }

  // What was read is no checkpoint's, whatever follows. The first reason stays.
  void Refuse(absl::Status reason) {
    if (!failed_) refusal_ = std::move(reason);
    failed_ = true;
  }

  const std::uint32_t format;
  std::uint32_t step_columns = kStepColumnsOfFormat1;

 private:
  template <Number T>
  void Read(T& number) {
    Take(&number, sizeof(number));
  }
  template <Number T>
  void Read(std::vector<T>& numbers) {
    const std::uint64_t count = ReadCount(sizeof(T));
    numbers.resize(count);
    Take(numbers.data(), count * sizeof(T));
  }
  void Read(std::string& text) {
    text.resize(ReadCount(1));
    Take(text.data(), text.size());
  }
  // Grows with what is there, since records have no fixed size.
  template <typename T>
  void Read(std::vector<T>& records) {
    for (std::uint64_t left = ReadCount(1); left > 0 && !failed_; --left) Read(records.emplace_back());
  }
  template <typename T>
  void Read(T& record) {
    Fields(*this, record);
  }

  // Elements that the bytes left have room for, where each has at least this many; else 0.
  std::uint64_t ReadCount(std::size_t least_bytes) {
    std::uint64_t count = 0;
    Read(count);
    if (count <= bytes_.size() / least_bytes) return count;
    failed_ = true;
    return 0;
  }

  void Take(void* data, std::size_t size) {
    if (failed_ || size > bytes_.size()) {
      failed_ = true;
      return;
    }
    if (size > 0) std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }

  std::string_view bytes_;
  bool failed_ = false;
  absl::Status refusal_;
};

// The fields of each kind of record, in the order of their bytes, for Writer and Reader alike.
template <typename T, typename Record>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Record>;

void Fields(auto& archive, MaybeConst<Setting> auto& setting) { archive(setting.name, setting.value); }

void Fields(auto& archive, MaybeConst<wire::Segment> auto& segment) {
  archive(segment.world_size, segment.steps);
}

void Fields(auto& archive, MaybeConst<Position> auto& position) {
  archive(position.steps, position.epoch, position.epoch_step, position.epoch_steps, position.world_size,
          position.segments);
}

void Fields(auto& archive, MaybeConst<TimeHistogram::Bucket> auto& bucket) {
  archive(bucket.index, bucket.count);
}

// Whether what is written or read has what came with `format`.
bool HasSince(std::uint32_t /*format*/, const Writer& /*write*/) { return true; }
bool HasSince(std::uint32_t format, const Reader& read) { return read.format >= format; }

void Times(Writer& write, const TimeHistogram& times) { write(times.sum_ns(), times.buckets()); }

void Times(Reader& read, TimeHistogram& times) {
  if (read.format == 1) {
    std::vector<std::uint64_t> each;
    read(each);
    for (const std::uint64_t ns : each) times.Add(ns);
    return;
  }
  std::uint64_t sum_ns = 0;
  std::vector<TimeHistogram::Bucket> buckets;
  read(sum_ns, buckets);
  if (!times.Restore(sum_ns, buckets)) read.Refuse(absl::DataLossError("its fields are no times of steps"));
}

void Fields(auto& archive, MaybeConst<StepTotals> auto& totals) {
  archive(totals.steps, totals.graphs, totals.steady_graphs, totals.steady_wait_ns, totals.last_loss);
  Times(archive, totals.steady);
}

void StepColumns(Writer& write) { write(write.step_columns); }

void StepColumns(Reader& read) {
  if (read.format == 1) return;
  read(read.step_columns);
  if (read.step_columns >= kStepColumnsOfFormat1 && read.step_columns <= wire::kStepColumnCount) return;
  const std::string columns = absl::StrCat("its step records have ", read.step_columns, " columns");
  if (read.step_columns < kStepColumnsOfFormat1 || read.step_columns > kMaxStepColumns) {
    return read.Refuse(absl::DataLossError(absl::StrCat(columns, ", and no program writes so few or so many")));
  }
  read.Refuse(absl::FailedPreconditionError(
      absl::StrCat(columns, ", and this program knows ", wire::kStepColumnCount, ": a newer one wrote it")));
}

// Columns that an older program did not have stay as they are.
void Fields(auto& archive, MaybeConst<wire::StepRecord> auto& step) {
  std::uint32_t left = archive.step_columns;
  wire::ForEachStepColumn([&](const auto& column) {
    if (left == 0) return;
    --left;
    archive(column.Of(step));
  });
}

void Fields(auto& archive, MaybeConst<client::AttemptSteps> auto& steps) {
  archive(steps.rank, steps.attempt, steps.steps);
}

void AttemptOf(Writer& write, const client::Evaluation& evaluation) {
  write(evaluation.attempt.value_or(kNoAttempt));
}

void AttemptOf(Reader& read, client::Evaluation& evaluation) {
  std::uint32_t attempt = kNoAttempt;
  read(attempt);
  if (attempt != kNoAttempt) evaluation.attempt = attempt;
}

// In place of a value that is not known.
constexpr std::uint64_t kNoValue = ~std::uint64_t{0};

void OptionalField(Writer& write, const std::optional<double>& value) {
  write(value.has_value() ? std::bit_cast<std::uint64_t>(*value) : kNoValue);
}

void OptionalField(Reader& read, std::optional<double>& value) {
  std::uint64_t bits = 0;
  read(bits);
  if (bits != kNoValue) value = std::bit_cast<double>(bits);
}

void OptionalFields(auto& archive, MaybeConst<client::Evaluation> auto& evaluation) {
  if (!HasSince(4, archive)) return;
  OptionalField(archive, evaluation.accuracy);
  OptionalField(archive, evaluation.constant_accuracy);
  if (HasSince(5, archive)) OptionalField(archive, evaluation.filter_error);
}

void Fields(auto& archive, MaybeConst<client::Evaluation> auto& evaluation) {
  archive(evaluation.step, evaluation.split, evaluation.graphs, evaluation.mae, evaluation.rmse,
          evaluation.constant_mae, evaluation.constant_rmse, evaluation.duration_ns);
  if (HasSince(2, archive)) AttemptOf(archive, evaluation);
  OptionalFields(archive, evaluation);
}

void Fields(auto& archive, MaybeConst<client::LostRecords> auto& lost) {
  archive(lost.rank, lost.attempt, lost.records);
}

void Fields(auto& archive, MaybeConst<client::UnsentRecords> auto& unsent) {
  StepColumns(archive);
  archive(unsent.steps, unsent.evaluations);
  if (HasSince(3, archive)) archive(unsent.lost);
}

void Fields(auto& archive, MaybeConst<Checkpoint> auto& checkpoint) {
  archive(checkpoint.settings, checkpoint.run, checkpoint.key, checkpoint.position, checkpoint.totals,
          checkpoint.unsent, checkpoint.parameters, checkpoint.adam_mean, checkpoint.adam_square);
}

std::uint32_t CrcOf(std::string_view bytes) { return base::Crc32c(std::as_bytes(std::span(bytes))); }

template <typename T>
T NumberAt(std::string_view bytes, std::size_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

// What stands around the fields.
absl::Status CheckFrame(std::string_view bytes) {
  if (bytes.size() < kHeadBytes + kCrcBytes || !bytes.starts_with(kMagic)) {
    return absl::DataLossError("it is no checkpoint");
  }
  const auto format = NumberAt<std::uint32_t>(bytes, kMagic.size());
  if (format < kOldestFormat || format > kFormat) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it has format ", format, ", and this program reads formats ", kOldestFormat, " to ", kFormat));
  }
  const auto stated = NumberAt<std::uint64_t>(bytes, kMagic.size() + sizeof(format));
  const std::uint64_t held = bytes.size() - kHeadBytes - kCrcBytes;
  if (held != stated) {
    return absl::DataLossError(absl::StrCat("it holds ", held, " bytes of content and states ", stated));
  }
  const std::size_t end = bytes.size() - kCrcBytes;
  if (CrcOf(bytes.substr(0, end)) == NumberAt<std::uint32_t>(bytes, end)) return absl::OkStatus();
  return absl::DataLossError("its checksum is not that of its content");
}

template <typename T>
absl::StatusOr<T> ReadAll(std::string_view bytes, std::uint32_t format) {
  Reader read(bytes, format);
  T record;
  read(record);
  ABSL_RETURN_IF_ERROR(read.End());
  return record;
}

}  // namespace

StreamStart StartAfter(const Position& position, std::uint32_t world_size) {
  if (position.steps == 0) return {};
  const std::uint64_t next = position.epoch_step + 1;
  if (next == position.epoch_steps) return {.epoch = position.epoch + 1};
  StreamStart start{.epoch = position.epoch, .step = next, .segments = position.segments};
  if (world_size == position.world_size) return start;
  std::uint64_t before = 0;
  for (const wire::Segment& segment : position.segments) before += segment.steps;
  start.segments.push_back({.world_size = position.world_size, .steps = next - before});
  return start;
}

std::string EncodeCheckpoint(const Checkpoint& checkpoint) {
  Writer file;
  file.bytes = kMagic;
  file(kFormat, std::uint64_t{0}, checkpoint);
  const std::uint64_t size = file.bytes.size() - kHeadBytes;
  std::memcpy(file.bytes.data() + kHeadBytes - sizeof(size), &size, sizeof(size));
  file(CrcOf(file.bytes));
  return std::move(file.bytes);
}

absl::StatusOr<Checkpoint> DecodeCheckpoint(std::string_view bytes) {
  ABSL_RETURN_IF_ERROR(CheckFrame(bytes));
  return ReadAll<Checkpoint>(bytes.substr(kHeadBytes, bytes.size() - kHeadBytes - kCrcBytes),
                             NumberAt<std::uint32_t>(bytes, kMagic.size()));
}

std::size_t MaxUnsentSteps(std::uint64_t spool_bytes, std::uint32_t ranks) {
  const std::uint64_t bytes = std::clamp(spool_bytes, kLeastUnsentBytes, kMostUnsentBytes);
  return std::max<std::size_t>(1, bytes / ranks / kStepBytes);
}

std::string EncodeUnsent(const client::UnsentRecords& unsent) {
  Writer content;
  content(unsent);
  return std::move(content.bytes);
}

absl::StatusOr<client::UnsentRecords> DecodeUnsent(std::string_view bytes) {
  return ReadAll<client::UnsentRecords>(bytes, kFormat);
}

}  // namespace packtrain::trainer
