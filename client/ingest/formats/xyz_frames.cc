#include "client/ingest/formats/xyz_frames.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// What a row may have on average: the text of a frame is kept as a whole.
constexpr std::size_t kRowBytes = 1024;
constexpr int kQm9TailLines = 3;
constexpr int kVectors = 3;

// The line of properties in a file of QM9: "gdb", an index, numbers.
bool IsQm9Comment(std::string_view comment) {
  std::string_view rest = comment;
  return NextWord(&rest) == "gdb" && ParseCount(NextWord(&rest)) && ParseDouble(NextWord(&rest));
}

}  // namespace

std::optional<std::uint64_t> FrameCount(std::string_view line) { return ParseCount(Trim(line)); }

std::string_view NextLine(std::string_view* text) {
  const std::size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(line.size() + 1, text->size()));
  return line;
}

XyzCutter::XyzCutter(std::unique_ptr<LineReader> lines, const ReadLimits& limits, XyzTail tail)
    : lines_(std::move(lines)),
      max_atoms_(limits.max_atoms),
      max_line_bytes_(limits.max_line_bytes),
      tail_(tail) {}

absl::StatusOr<bool> XyzCutter::Next(RawRecord* record) {
  if (ended_) return false;
  record->origin.file = lines_->path();
  record->origin.record_word = "frame";
  record->origin.record = ++frames_;
  too_long_ = false;
  std::string_view line;
  const absl::StatusOr<bool> more = NextFilled(&line);
  record->origin.line = lines_->line_number();
  if (!more.ok()) return EndWith(more.status());
  if (!*more) {
    ended_ = true;
    if (frames_ > 1) return false;
    return Refusal("empty_file", absl::StrCat(lines_->path(), ": the file holds no frame"));
  }
  const std::optional<std::uint64_t> count = FrameCount(line);
  if (!count) return EndWith(BadCount(line, *record));
  Append(line, 0, record);
  ABSL_RETURN_IF_ERROR(CutComment(record));
  ABSL_RETURN_IF_ERROR(CutRows(*count, record));
  if (!too_long_) return true;
  return RefusedAt(record->origin,
                   Refusal("frame_too_long", absl::StrCat("the rows of the frame are too long: together they "
                                                          "may have ",
                                                          kRowBytes, " bytes an atom, and ", max_line_bytes_,
                                                          " more (--max-line-bytes)")));
}

absl::StatusOr<bool> XyzCutter::NextFilled(std::string_view* line) {
  while (true) {
    absl::StatusOr<bool> more = lines_->Next(line);
    if (!more.ok() || !*more || !Trim(*line).empty()) return more;
  }
}

absl::Status XyzCutter::BadCount(std::string_view line, const RawRecord& record) const {
  if (behind_qm9_) return NotQm9(record);
  return RefusedAt(
      record.origin,
      Refusal("bad_count", absl::StrCat("expected the number of atoms, found ", Shown(line),
                                        frames_ > 1 ? "; is the count of the frame before too low?" : "")));
}

absl::Status XyzCutter::NotQm9(const RawRecord& record) const {
  return absl::InvalidArgumentError(absl::StrCat(FormatOrigin(record.origin),
                                                 ": no frame begins here; the file looks like one of QM9, with "
                                                 "three lines behind the atoms, which format qm9-xyz reads"));
}

absl::Status XyzCutter::CutComment(RawRecord* record) {
  std::string_view comment;
  const absl::StatusOr<bool> more = lines_->Next(&comment);
  if (!more.ok()) return EndWith(more.status());
  if (!*more) return absl::OkStatus();
  const bool is_qm9 = tail_ != XyzTail::kQm9 && IsQm9Comment(comment);
  if (behind_qm9_ && !is_qm9) return EndWith(NotQm9(*record));
  behind_qm9_ = is_qm9;
  Append(comment, 0, record);
  return absl::OkStatus();
}

absl::Status XyzCutter::CutRows(std::uint64_t count, RawRecord* record) {
  std::string_view row;
  for (std::uint64_t k = 0; k < count; ++k) {
    const absl::StatusOr<bool> more = lines_->Next(&row);
    if (!more.ok()) return EndWith(more.status());
    if (!*more) return absl::OkStatus();
    if (count <= max_atoms_) Append(row, count, record);
    if (FrameCount(row)) {
      lines_->Unread();
      return absl::OkStatus();
    }
  }
  return tail_ == XyzTail::kQm9 ? CutTail(record) : CutVectors(record);
}

absl::Status XyzCutter::CutTail(RawRecord* record) {
  std::string_view line;
  for (int k = 0; k < kQm9TailLines; ++k) {
    const absl::StatusOr<bool> more = lines_->Next(&line);
    if (!more.ok()) return EndWith(more.status());
    if (!*more) return absl::OkStatus();
    Append(line, kQm9TailLines, record);
  }
  return absl::OkStatus();
}

absl::Status XyzCutter::CutVectors(RawRecord* record) {
  std::string_view line;
  for (int k = 0; k < kVectors; ++k) {
    const absl::StatusOr<bool> more = lines_->Next(&line);
    if (!more.ok() || !*more) return absl::OkStatus();  // the next frame meets it again
    if (!line.starts_with("VEC")) {
      lines_->Unread();
      return absl::OkStatus();
    }
    Append(line, kVectors, record);
  }
  return absl::OkStatus();
}

void XyzCutter::Append(std::string_view line, std::uint64_t count, RawRecord* record) {
  std::string& text = record->text;
  too_long_ = too_long_ || text.size() + line.size() > 2 * max_line_bytes_ + count * kRowBytes;
  if (too_long_) return;
  text.append(line);
  text.push_back('\n');
}

absl::Status XyzCutter::EndWith(absl::Status status) {
  ended_ = true;
  return status;
}

}  // namespace packtrain::ingest
