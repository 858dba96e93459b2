#include "client/ingest/record_stream.h"

#include <string_view>
#include <utility>

#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {

void ReadRecord::KeepLabels() {
  std::vector<char> text;
  for (const Label& label : graph.labels) {
    text.insert(text.end(), label.name.begin(), label.name.end());
    text.insert(text.end(), label.text.begin(), label.text.end());
    text.insert(text.end(), label.unit.begin(), label.unit.end());
    text.insert(text.end(), label.file.begin(), label.file.end());
  }
  kept_labels_ = std::move(text);
  std::string_view rest(kept_labels_.data(), kept_labels_.size());
  for (Label& label : graph.labels) {
    label.name = rest.substr(0, label.name.size());
    rest.remove_prefix(label.name.size());
    label.text = rest.substr(0, label.text.size());
    rest.remove_prefix(label.text.size());
    label.unit = rest.substr(0, label.unit.size());
    rest.remove_prefix(label.unit.size());
    label.file = rest.substr(0, label.file.size());
    rest.remove_prefix(label.file.size());
  }
}

absl::StatusOr<bool> RecordStream::Next(ReadRecord* record) {
  if (has_second_) {
    has_second_ = false;
    std::swap(*record, second_);
    return true;
  }
  while (!ended_) {
    ABSL_ASSIGN_OR_RETURN(const bool more, reader_ == nullptr ? BeginFile(record) : ReadOn(record));
    if (more) return true;
    reader_.reset();
  }
  return false;
}

absl::StatusOr<bool> RecordStream::BeginFile(ReadRecord* record) {
  const absl::Status opened = OpenFile();
  if (ended_) return false;
  Reset(record);
  if (IsRefusal(opened)) {
    record->refusal = opened;
    return true;
  }
  ABSL_RETURN_IF_ERROR(opened);
  ABSL_ASSIGN_OR_RETURN(const bool more, ReadOn(record));
  if (!more) return false;
  record->KeepLabels();
  ABSL_ASSIGN_OR_RETURN(has_second_, ReadOn(&second_));
  record->is_only = !has_second_;
  if (!has_second_) reader_.reset();
  return true;
}

absl::Status RecordStream::OpenFile() {
  absl::StatusOr<std::unique_ptr<GraphReader>> reader = inputs_.Next();
  ended_ = reader.ok() && *reader == nullptr;
  if (ended_) return absl::OkStatus();
  auto file = std::make_shared<InputFile>(InputFile{.path = inputs_.path(), .number = ++opened_, .layout = {}});
  file_ = file;
  ABSL_ASSIGN_OR_RETURN(reader_, std::move(reader));
  file->layout = reader_->layout();
  return absl::OkStatus();
}

void RecordStream::Reset(ReadRecord* record) const {
  if (record->file == nullptr || record->file->layout != file_->layout) {
    record->graph = SourceGraph(file_->layout);
  }
  record->file = file_;
  record->graph.Clear();
  record->graph.file.clear();
  record->graph.record = record->graph.line = 0;
  record->has_id = record->is_only = false;
}

absl::StatusOr<bool> RecordStream::ReadOn(ReadRecord* record) {
  if (record->file != file_) Reset(record);
  absl::StatusOr<bool> more = reader_->Next(&record->graph);
  if (!more.ok() && !IsRefusal(more.status())) return more;
  record->refusal = more.status();
  record->has_id = !record->graph.id.empty();
  record->is_only = false;
  return !more.ok() || *more;
}

absl::Status RecordStream::Stop() {
  ended_ = true;
  has_second_ = false;
  reader_.reset();
  return inputs_.Close();
}

}  // namespace packtrain::ingest
