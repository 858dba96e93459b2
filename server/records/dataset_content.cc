#include "server/records/dataset_content.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/records/schema.h"

namespace packtrain::records {
namespace {

std::uint64_t WordAt(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// ln(degree + 1).
double LogDegree(std::uint64_t degree) {
  static const std::array<double, 256> kSmall = [] {
    std::array<double, 256> logs;
    for (std::size_t d = 0; d < logs.size(); ++d) logs[d] = std::log1p(static_cast<double>(d));
    return logs;
  }();
  return degree < kSmall.size() ? kSmall[degree] : std::log1p(static_cast<double>(degree));
}

// How many of `numbers`, of T, are equal to the first one before another follows. Eight bytes are compared at a
// time.
template <typename T>
std::size_t RunLength(std::span<const std::byte> numbers) {
  std::array<std::byte, sizeof(std::uint64_t)> first;
  for (std::size_t at = 0; at < first.size(); at += sizeof(T))
    std::memcpy(&first[at], numbers.data(), sizeof(T));
  std::size_t at = 0;
  for (; at + first.size() <= numbers.size(); at += first.size()) {
    const std::uint64_t difference = WordAt(numbers.data() + at) ^ WordAt(first.data());
    if (difference != 0) return (at + static_cast<std::size_t>(std::countr_zero(difference)) / 8) / sizeof(T);
  }
  while (at < numbers.size() && std::memcmp(&numbers[at], first.data(), sizeof(T)) == 0) at += sizeof(T);
  return at / sizeof(T);
}

// `receivers`, of T, are sorted. Nodes that no edge ends in add nothing.
template <typename T>
double SumLogDegrees(std::span<const std::byte> receivers) {
  double sum = 0;
  while (!receivers.empty()) {
    const std::size_t degree = RunLength<T>(receivers);
    sum += LogDegree(degree);
    receivers = receivers.subspan(degree * sizeof(T));
  }
  return sum;
}

// Of a graph whose edges are stored.
double SumLogDegrees(const RecordView& graph) {
  if (graph.endpoint_bytes() == 1) return SumLogDegrees<std::uint8_t>(graph.receivers());
  if (graph.endpoint_bytes() == 2) return SumLogDegrees<std::uint16_t>(graph.receivers());
  return SumLogDegrees<std::uint32_t>(graph.receivers());
}

}  // namespace

DatasetContent::DatasetContent(const v1::Schema& schema, RecordLayout layout)
    : schema_(schema),
      layout_(std::move(layout)),
      class_field_(layout_.FindField(kClassField)),
      target_field_(layout_.FindField(kTargetField)),
      columns_(schema.targets_size()) {
  if (class_field_) class_bytes_ = layout_.fields()[*class_field_].row_bytes;
  hasher_.UpdateSized("packtrain content 1");
  hasher_.UpdateSized(CanonicalSchema(schema));
}

absl::StatusOr<DatasetContent> DatasetContent::Create(const v1::Schema& schema) {
  ABSL_ASSIGN_OR_RETURN(RecordLayout layout, RecordLayout::Create(schema));
  return DatasetContent(schema, std::move(layout));
}

absl::Status DatasetContent::Add(std::span<const std::byte> record) {
  ABSL_RETURN_IF_ERROR(AddUnhashed(record));
  HashRecords(record);  // a record states its own length
  return absl::OkStatus();
}

absl::Status DatasetContent::AddUnhashed(std::span<const std::byte> record) {
  const absl::StatusOr<RecordView> view = RecordView::Parse(layout_, record);
  if (!view.ok()) return absl::InvalidArgumentError(view.status().message());
  if (graphs() == std::numeric_limits<std::uint32_t>::max()) {
    return absl::ResourceExhaustedError(absl::StrCat("a data set holds at most ", graphs(), " graphs"));
  }
  bytes_ += record.size();
  n_node_.Add(view->n_node());
  n_edge_.Add(view->n_edge());
  bandwidth_.Add(view->bandwidth());
  if (layout_.source_node()) bandwidth_as_read_.Add(view->bandwidth_as_read());
  if (layout_.stores_edges()) log_degrees_.push_back(SumLogDegrees(*view));
  ids_.Add(view->source_id());
  if (class_field_) NoteClasses(view->field(*class_field_));
  if (target_field_) NoteTargets(view->field(*target_field_));
  return absl::OkStatus();
}

std::uint64_t DatasetContent::memory_bytes() const {
  return sizeof(*this) + n_node_.memory_bytes() + n_edge_.memory_bytes() + bandwidth_.memory_bytes() +
         bandwidth_as_read_.memory_bytes() + BytesOf(log_degrees_) + BytesOf(targets_) + ids_.memory_bytes();
}

double DatasetContent::log_degrees(std::uint32_t graph) const {
  if (layout_.stores_edges()) return log_degrees_[graph];
  const std::uint32_t nodes = n_node_[graph];  // each with an edge from all others
  return nodes * LogDegree(nodes - 1);
}

void DatasetContent::NoteClasses(std::span<const std::byte> rows) {
  if (class_bytes_ == sizeof(std::uint8_t)) {
    for (const std::byte value : rows) classes_.set(std::to_integer<std::uint8_t>(value));
    return;
  }
  for (std::size_t at = 0; at < rows.size(); at += sizeof(std::uint16_t)) {
    std::uint16_t value;
    std::memcpy(&value, rows.data() + at, sizeof(value));
    classes_.set(value);
  }
}

void DatasetContent::NoteTargets(std::span<const std::byte> row) {
  for (std::size_t at = 0; at < row.size(); at += sizeof(double)) {
    double value;
    std::memcpy(&value, row.data() + at, sizeof(value));
    targets_.push_back(value);
  }
}

std::vector<std::uint32_t> DatasetContent::Classes() const {
  std::vector<std::uint32_t> classes;
  for (std::size_t value = 0; value < classes_.size(); ++value) {
    if (classes_.test(value)) classes.push_back(static_cast<std::uint32_t>(value));
  }
  return classes;
}

const std::string& DatasetContent::Hash() {
  if (hash_.empty()) hash_ = hasher_.HexDigest();
  return hash_;
}

}  // namespace packtrain::records
