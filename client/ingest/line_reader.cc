#include "client/ingest/line_reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path,
                                                             const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path, limits.max_unpacked_bytes));
  return std::make_unique<LineReader>(std::move(source), limits);
}

LineReader::LineReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
    : source_(std::move(source)), max_line_bytes_(limits.max_line_bytes), buffer_(kBufferBytes) {}

absl::StatusOr<bool> LineReader::Next(std::string_view* line) {
  if (std::exchange(unread_, false)) {
    *line = last_;
    ++line_number_;
    return true;
  }
  absl::StatusOr<bool> found = FindLine(line);
  if (found.ok() && *found) Accept(line);
  return found;
}

void LineReader::Unread() {
  unread_ = true;
  --line_number_;
}

absl::StatusOr<bool> LineReader::FindLine(std::string_view* line) {
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t unread = end_ - begin_;
    const void* newline = std::memchr(start + searched, '\n', unread - searched);
    const std::size_t length = newline == nullptr ? unread : static_cast<const char*>(newline) - start;
    if (length > max_line_bytes_) {
      return Refusal("line_too_long", absl::StrCat(path(), ": line ", line_number_ + 1, " is longer than ",
                                                   max_line_bytes_, " bytes (--max-line-bytes)"));
    }
    if (newline != nullptr) {
      *line = {start, length};
      begin_ += length + 1;
      return true;
    }
    searched = unread;
    ABSL_ASSIGN_OR_RETURN(bool more, Refill());
    if (!more) {
      *line = {buffer_.data() + begin_, unread};
      begin_ = end_;
      return unread > 0;
    }
  }
}

absl::StatusOr<bool> LineReader::Refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), max_line_bytes_ + kBufferBytes));
  ABSL_ASSIGN_OR_RETURN(std::size_t count, source_->Read(std::span(buffer_).subspan(end_)));
  end_ += count;
  return count > 0;
}

void LineReader::Accept(std::string_view* line) {
  if (line_number_++ == 0 && line->starts_with(kByteOrderMark)) line->remove_prefix(kByteOrderMark.size());
  if (line->ends_with('\r')) line->remove_suffix(1);
  last_ = *line;
}

}  // namespace packtrain::ingest
