#include "client/ingest/line_reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
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
  if (!found.ok()) return AtThisLine(found.status());
  if (*found) Accept(line);
  return found;
}

void LineReader::Unread() {
  unread_ = true;
  --line_number_;
}

absl::Status LineReader::AtThisLine(absl::Status refusal) const {
  if (source_->content() != ByteSource::Content::kData) return refusal;
  return LeavingRest(RefusedElsewhere({path(), "", 0, line_number_ + 1}, std::move(refusal)));
}

std::size_t LineReader::NextByte::Find(const std::vector<char>& buffer, std::size_t from, std::size_t end) {
  if (known_ && at_ >= from) return at_;
  const void* const found = std::memchr(buffer.data() + from, byte_, end - from);
  known_ = true;
  return at_ =
             found == nullptr ? end : static_cast<std::size_t>(static_cast<const char*>(found) - buffer.data());
}

absl::StatusOr<bool> LineReader::FindLine(std::string_view* line) {
  std::size_t searched = 0;
  bool more = true;
  while (true) {
    const std::size_t from = begin_ + searched;
    const std::size_t end =
        std::min(newline_.Find(buffer_, from, end_), carriage_return_.Find(buffer_, from, end_));
    *line = {buffer_.data() + begin_, end - begin_};
    ABSL_RETURN_IF_ERROR(CheckLine(*line));
    // Whether a newline follows a carriage return shows only in the byte behind it.
    const bool ends = end < end_ && (buffer_[end] == '\n' || end + 1 < end_ || !more);
    if (ends || !more) {
      const bool any = begin_ < end_;
      const bool is_pair = end + 1 < end_ && buffer_[end] == '\r' && buffer_[end + 1] == '\n';
      begin_ = std::min(end_, end + (is_pair ? 2 : 1));
      return any;
    }
    searched = end - begin_;
    ABSL_ASSIGN_OR_RETURN(more, Refill());
  }
}

absl::Status LineReader::CheckLine(std::string_view line) {
  if (line.size() > max_line_bytes_) {
    return Refusal("line_too_long",
                   absl::StrCat("the line is longer than ", max_line_bytes_, " bytes (--max-line-bytes)"));
  }
  if (nul_.Find(buffer_, begin_, end_) >= begin_ + line.size()) return absl::OkStatus();
  return Refusal("nul_byte", "the line holds a NUL byte; is the file text?");
}

absl::StatusOr<bool> LineReader::Refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  for (NextByte* next : {&newline_, &carriage_return_, &nul_}) next->Forget();
  if (end_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), max_line_bytes_ + kBufferBytes));
  ABSL_ASSIGN_OR_RETURN(std::size_t count, source_->Read(std::span(buffer_).subspan(end_)));
  end_ += count;
  return count > 0;
}

void LineReader::Accept(std::string_view* line) {
  if (line_number_++ == 0 && line->starts_with(kByteOrderMark)) line->remove_prefix(kByteOrderMark.size());
  last_ = *line;
}

}  // namespace packtrain::ingest
