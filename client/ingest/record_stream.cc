#include "client/ingest/record_stream.h"

#include <string_view>
#include <utility>

#include "client/ingest/byte_source.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {

void ReadRecord::KeepLabels() {
  std::vector<char> text;
  for (const Label& label : graph.labels) {
    text.insert(text.end(), label.name.begin(), label.name.end());
    text.insert(text.end(), label.text.begin(), label.text.end());
  }
  kept_labels_ = std::move(text);
  std::string_view rest(kept_labels_.data(), kept_labels_.size());
  for (Label& label : graph.labels) {
    label.name = rest.substr(0, label.name.size());
    rest.remove_prefix(label.name.size());
    label.text = rest.substr(0, label.text.size());
    rest.remove_prefix(label.text.size());
  }
}

RecordStream::RecordStream(const Format& format, ReadOptions options, std::vector<std::string> files)
    : format_(format), options_(std::move(options)), files_(std::move(files)) {}

absl::StatusOr<bool> RecordStream::Next(ReadRecord* record) {
  if (has_second_) {
    has_second_ = false;
    std::swap(*record, second_);
    return true;
  }
  while (true) {
    if (reader_ == nullptr && next_file_ == files_.size()) return false;
    ABSL_ASSIGN_OR_RETURN(const bool more, reader_ == nullptr ? BeginFile(record) : ReadOn(record));
    if (more) return true;
    ABSL_RETURN_IF_ERROR(CloseFile());
  }
}

absl::StatusOr<bool> RecordStream::BeginFile(ReadRecord* record) {
  const absl::Status opened = OpenFile();
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
  if (!has_second_) {
    ABSL_RETURN_IF_ERROR(CloseFile());
  }
  return true;
}

absl::Status RecordStream::OpenFile() {
  const std::string& path = files_[next_file_++];
  auto file = std::make_shared<InputFile>(InputFile{.path = path, .number = next_file_, .layout = {}});
  file_ = file;
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes,
                        ByteSource::Open(path, options_.limits.max_unpacked_bytes));
  ABSL_ASSIGN_OR_RETURN(reader_, format_.open_graphs(std::move(bytes), options_));
  file->layout = reader_->layout();
  return absl::OkStatus();
}

absl::Status RecordStream::CloseFile() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<v1::SourceFile> read, reader_->DescribeFiles());
  reader_.reset();
  for (const v1::SourceFile& source : read) closed_bytes_ += source.bytes();
  sources_.insert(sources_.end(), read.begin(), read.end());
  return absl::OkStatus();
}

void RecordStream::Reset(ReadRecord* record) const {
  if (record->file == nullptr || record->file->layout != file_->layout) {
    record->graph = SourceGraph(file_->layout);
  }
  record->file = file_;
  record->graph.Clear();
  record->graph.record = record->graph.line = 0;
  record->has_id = record->is_only = false;
}

absl::StatusOr<bool> RecordStream::ReadOn(ReadRecord* record) {
  if (record->file != file_) Reset(record);
  const absl::StatusOr<bool> more = reader_->Next(&record->graph);
  if (!more.ok() && !IsRefusal(more.status())) return more;
  record->refusal = more.status();
  record->has_id = !record->graph.id.empty();
  record->is_only = false;
  return !more.ok() || *more;
}

absl::Status RecordStream::Stop() {
  next_file_ = files_.size();
  has_second_ = false;
  return reader_ == nullptr ? absl::OkStatus() : CloseFile();
}

std::uint64_t RecordStream::consumed_bytes() const {
  return closed_bytes_ + (reader_ == nullptr ? 0 : reader_->consumed_bytes());
}

}  // namespace packtrain::ingest
