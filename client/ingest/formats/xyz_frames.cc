#include "client/ingest/formats/xyz_frames.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
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
constexpr std::string_view kInChI = "InChI=";

// The line of properties in a file of QM9: "gdb", an index, numbers.
bool IsQm9Comment(std::string_view comment) {
  std::string_view rest = comment;
  return NextWord(&rest) == "gdb" && ParseCount(NextWord(&rest)) && ParseDouble(NextWord(&rest));
}

// A word and three numbers.
bool IsAtomRow(std::string_view line) {
  if (NextWord(&line).empty()) return false;
  for (int k = 0; k < 3; ++k) {
    if (!ParseDouble(NextWord(&line))) return false;
  }
  return true;
}

// Whether two lines have as many words, of which the same are numbers.
bool AreAlike(std::string_view line, std::string_view other) {
  while (true) {
    const std::string_view word = NextWord(&line), other_word = NextWord(&other);
    if (word.empty() || other_word.empty()) return word.empty() && other_word.empty();
    if (ParseDouble(word).has_value() != ParseDouble(other_word).has_value()) return false;
  }
}

// How many numbers a line holds; nullopt where it holds another word.
std::optional<std::size_t> NumbersOf(std::string_view line) {
  std::size_t numbers = 0;
  for (std::string_view word = NextWord(&line); !word.empty(); word = NextWord(&line), ++numbers) {
    if (!ParseDouble(word)) return std::nullopt;
  }
  return numbers;
}

// The first line behind the rows of a frame.
std::string_view FirstOfTail(std::string_view frame, std::uint64_t count) {
  NextLine(&frame);
  NextLine(&frame);
  for (std::uint64_t row = 0; row < count && !frame.empty(); ++row) NextLine(&frame);
  return NextLine(&frame);
}

// Of a text whose lines end in "\n".
std::string_view LastLine(std::string_view text) {
  if (text.empty()) return text;
  text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::optional<std::uint64_t> FrameCount(std::string_view line) {
  const std::string_view word = SkipBlanks(line);
  if (word.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(word.front())))
    return std::nullopt;  // as of almost every row
  return ParseCount(Trim(word));
}

bool IsFrequencies(std::string_view line) {
  const std::optional<std::size_t> numbers = NumbersOf(line);
  return numbers && *numbers != kQm9AtomColumns;
}

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
  const std::optional<Line> ahead = std::exchange(count_, std::nullopt);
  if (ahead) line = ahead->text;
  const absl::StatusOr<bool> more = ahead ? true : NextFilled(&line);
  record->origin.line = ahead ? ahead->number : lines_->line_number();
  if (!more.ok()) return EndWith(more.status());
  if (!*more) {
    ended_ = true;
    if (frames_ > 1) return false;
    return RefusedWhole(lines_->path(), "empty_file", "the file holds no frame");
  }
  const std::optional<std::uint64_t> count = FrameCount(line);
  if (!count) return BadCount(line, *record);
  Append(line, 0, record);
  ABSL_RETURN_IF_ERROR(CutComment(record));
  ABSL_RETURN_IF_ERROR(CutRows(*count, record));
  ABSL_RETURN_IF_ERROR(CheckEnd(*count, *record));
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

absl::Status XyzCutter::BadCount(std::string_view line, const RawRecord& record) {
  if (behind_qm9_) return EndWith(NotQm9(record));
  return PassOver(RefusedAt(
      record.origin, Refusal("bad_count", absl::StrCat("expected the number of atoms, found ", Shown(line)))));
}

absl::Status XyzCutter::CheckEnd(std::uint64_t count, const RawRecord& record) {
  if (count_) return absl::OkStatus();  // the end was found
  std::string_view line;
  const absl::StatusOr<bool> more = lines_->Next(&line);
  if (!more.ok() || !*more) return absl::OkStatus();  // the next frame meets it again
  Origin place = record.origin;
  place.line = lines_->line_number();
  if (!FrameCount(line) && IsOneMore(line, record.text)) {
    // A row where the frequencies should be is refused when the molecule has been read as far as its name.
    if (tail_ == XyzTail::kQm9 && !NumbersOf(FirstOfTail(record.text, count))) {
      const absl::StatusOr<bool> found = FindCount();
      if (!found.ok()) return EndWith(found.status());
      ended_ = !*found;
      return absl::OkStatus();
    }
    return PassOver(RefusedAt(
        place, Refusal("count_too_low",
                       absl::StrCat("the count is ", count, ", and one more row follows: ", Shown(line)))));
  }
  lines_->Unread();
  return absl::OkStatus();
}

bool XyzCutter::IsOneMore(std::string_view line, std::string_view frame) const {
  const std::string_view last = LastLine(frame);
  if (tail_ == XyzTail::kQm9) return !Trim(line).empty() && !last.starts_with(kInChI);
  return AreAlike(line, last);
}

absl::Status XyzCutter::PassOver(absl::Status refusal) {
  const absl::StatusOr<bool> found = FindCount();
  if (found.ok() && *found) {
    return WithMessage(
        refusal, absl::StrCat(refusal.message(), "; the next frame is read from line ", count_->number, " on"));
  }
  return EndWith(LeavingRest(std::move(refusal)));
}

absl::StatusOr<bool> XyzCutter::FindCount() {
  std::string_view line;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(bool more, NextFilled(&line));
    if (!more) return false;
    if (!FrameCount(line)) continue;
    Line count = {std::string(line), lines_->line_number()};
    ABSL_ASSIGN_OR_RETURN(more, lines_->Next(&line));
    if (!more) return false;
    lines_->Unread();
    if (IsAtomRow(line) && !IsQm9Comment(line)) continue;
    count_ = std::move(count);
    return true;
  }
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
    if (tail_ == XyzTail::kQm9 && IsFrequencies(row)) return PassTail(record);
  }
  return tail_ == XyzTail::kQm9 ? CutTail(record) : CutVectors(record);
}

absl::Status XyzCutter::PassTail(RawRecord* record) {
  std::string_view line;
  // SMILES, InChI, and the count of the next molecule.
  for (int k = 0; k < kQm9TailLines; ++k) {
    const absl::StatusOr<bool> more = NextFilled(&line);
    if (!more.ok() || !*more) return absl::OkStatus();  // the next frame meets it again
    if (!FrameCount(line)) continue;
    lines_->Unread();
    return absl::OkStatus();
  }
  lines_->Unread();
  const absl::StatusOr<bool> found = FindCount();
  if (!found.ok()) return EndWith(found.status());
  ended_ = record->leaves_rest = !*found;
  return absl::OkStatus();
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
