#include "client/ingest/formats/extxyz_reader.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/elements.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kShownBytes = 40;

// `text` in quotes, shortened.
std::string Shown(std::string_view text) {
  const bool whole = text.size() <= kShownBytes;
  const std::string_view shown = whole ? text : text.substr(0, kShownBytes);
  return absl::StrCat("'", absl::string_view(shown.data(), shown.size()), whole ? "'" : "...'");
}

// "folder/a.b.xyz.gz" -> "a.b"
std::string StemOf(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

// A line that holds nothing but a count, and so begins a frame.
std::optional<std::uint64_t> CountLine(std::string_view line) { return ParseCount(Trim(line)); }

bool IsRefused(const absl::Status& status, std::string_view reason) {
  return !status.ok() && ReasonOf(status) == reason;
}

absl::Status BadCount(std::string_view line, std::uint64_t frame) {
  return Refusal("bad_count", absl::StrCat("expected the number of atoms, found ", Shown(line),
                                           frame > 1 ? "; is the count of the frame before too low?" : ""));
}

absl::Status Truncated(std::uint64_t atoms_read, std::uint64_t atoms) {
  return Refusal("truncated_frame", absl::StrCat("the file ends after ", atoms_read, " of ", atoms, " atoms"));
}

// First word of a comment, where it is no pair.
std::string_view FirstWord(const Frame& frame) {
  const bool plain = !frame.pairs.empty() && !frame.pairs.front().has_value;
  return plain ? frame.pairs.front().key : std::string_view();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExtxyzReader>> ExtxyzReader::Open(const std::string& path,
                                                                 const ReadLimits& limits,
                                                                 std::uint64_t max_atoms) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> lines, LineReader::Open(path, limits));
  return std::unique_ptr<ExtxyzReader>(new ExtxyzReader(std::move(lines), max_atoms));
}

ExtxyzReader::ExtxyzReader(std::unique_ptr<LineReader> lines, std::uint64_t max_atoms)
    : lines_(std::move(lines)), max_atoms_(max_atoms), stem_(StemOf(lines_->path())) {}

absl::StatusOr<bool> ExtxyzReader::Next(Frame* frame) {
  if (ended_) return false;
  frame->number = ++frames_;
  frame->id.clear();
  std::string_view line;
  absl::StatusOr<bool> more = NextFilled(&line);
  frame->line = lines_->line_number();
  if (!more.ok()) return EndWith(more.status());
  if (!*more) {
    ended_ = true;
    if (frames_ > 1) return false;
    return Refusal("empty_file", absl::StrCat(path(), ": the file holds no frame"));
  }
  const absl::Status status = ReadFrame(line, frame);
  ABSL_RETURN_IF_ERROR(status);
  return true;
}

absl::StatusOr<bool> ExtxyzReader::NextFilled(std::string_view* line) {
  while (true) {
    absl::StatusOr<bool> more = lines_->Next(line);
    if (!more.ok() || !*more || !Trim(*line).empty()) return more;
  }
}

absl::Status ExtxyzReader::ReadFrame(std::string_view count_line, Frame* frame) {
  const std::optional<std::uint64_t> count = CountLine(count_line);
  if (!count) return EndWith(Locate(BadCount(count_line, frames_), frame->line, *frame));
  std::string_view comment;
  absl::StatusOr<bool> more = lines_->Next(&comment);
  if (!more.ok()) return EndWith(more.status());
  absl::Status status = ReadHead(*more ? comment : std::string_view(), frame);
  if (status.ok()) status = CheckCount(*count);
  if (!status.ok()) return Refuse(status, *count, frame);
  status = ReadAtoms(*count, frame);
  if (status.ok()) NameByFile(frame);
  return status;
}

absl::Status ExtxyzReader::CheckCount(std::uint64_t count) const {
  if (count == 0) return Refusal("no_nodes", "the frame has no atoms");
  if (count <= max_atoms_) return absl::OkStatus();
  return Refusal("too_many_atoms",
                 absl::StrCat("the frame has ", count, " atoms, the limit is ", max_atoms_, " (--max-atoms)"));
}

absl::Status ExtxyzReader::ReadHead(std::string_view comment, Frame* frame) {
  frame->comment.assign(comment);
  frame->cell.reset();
  absl::Status status = ParseComment(frame->comment, &frame->pairs);
  NameByComment(frame);
  ABSL_RETURN_IF_ERROR(status);
  if (const std::optional<std::string_view> lattice = FindKey(frame->pairs, "Lattice")) {
    ABSL_ASSIGN_OR_RETURN(PeriodicCell cell, ParseCell(*lattice, FindKey(frame->pairs, "pbc")));
    frame->cell = cell;
  }
  return ReadColumns(*frame);
}

absl::Status ExtxyzReader::ReadColumns(const Frame& frame) {
  const std::string_view properties = FindKey(frame.pairs, "Properties").value_or("");
  if (properties == properties_) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(AtomColumns columns, properties.empty() ? AtomColumns() : ParseProperties(properties));
  columns_ = columns;
  properties_ = properties;
  return absl::OkStatus();
}

absl::Status ExtxyzReader::ReadAtoms(std::uint64_t count, Frame* frame) {
  frame->z.clear();
  frame->pos.clear();
  for (std::uint64_t atom = 0; atom < count; ++atom) {
    std::string_view row;
    absl::StatusOr<bool> more = lines_->Next(&row);
    if (!more.ok()) return EndWith(more.status());
    if (!*more) return Refuse(Truncated(atom, count), 0, frame);
    const absl::Status status = ReadRow(row, frame);
    if (!status.ok()) return Refuse(status, count - atom - 1, frame);
  }
  return absl::OkStatus();
}

absl::Status ExtxyzReader::ReadRow(std::string_view row, Frame* frame) const {
  std::string_view rest = row;
  std::array<float, 3> position;
  std::uint8_t z = 0;
  for (std::size_t column = 0; column < columns_.count; ++column) {
    const std::string_view word = NextWord(&rest);
    if (column == columns_.species) {
      z = AtomicNumber(word);
    } else if (column - columns_.position < position.size()) {
      const std::optional<float> value = ParseFloat(word);
      if (!value || !std::isfinite(*value)) return ExplainRow(row);
      position[column - columns_.position] = *value;
    } else if (word.empty()) {
      return ExplainRow(row);
    }
  }
  if (z == 0) return ExplainRow(row);
  frame->z.push_back(z);
  frame->pos.insert(frame->pos.end(), position.begin(), position.end());
  return absl::OkStatus();
}

absl::Status ExtxyzReader::ExplainRow(std::string_view row) const {
  if (CountLine(row)) {
    return Refusal("count_too_high", absl::StrCat("expected an atom, found ", Shown(row),
                                                  "; is the frame's number of atoms too high?"));
  }
  std::string_view rest = row;
  for (std::size_t column = 0; column < columns_.count; ++column) {
    const std::string_view word = NextWord(&rest);
    if (word.empty()) {
      return Refusal("short_row", absl::StrCat("the row ", Shown(row), " has ", column, " columns, ",
                                               columns_.count, " are needed"));
    }
    if (column == columns_.species && AtomicNumber(word) == 0) {
      return Refusal("unknown_symbol", absl::StrCat("unknown element ", Shown(word)));
    }
    if (column - columns_.position >= 3 || column == columns_.species) continue;
    const std::optional<float> value = ParseFloat(word);
    if (!value) return Refusal("not_a_number", absl::StrCat("coordinate ", Shown(word), " is not a number"));
    if (!std::isfinite(*value))
      return Refusal("not_finite", absl::StrCat("coordinate ", Shown(word), " is not finite"));
  }
  return absl::InternalError("a row was refused for no reason");
}

absl::Status ExtxyzReader::Refuse(const absl::Status& status, std::uint64_t rows, Frame* frame) {
  const std::uint64_t line = lines_->line_number();
  if (IsRefused(status, "count_too_high")) {
    lines_->Unread();
  } else {
    SkipRows(rows);
  }
  NameByFile(frame);
  return Locate(status, line, *frame);
}

void ExtxyzReader::SkipRows(std::uint64_t rows) {
  std::string_view row;
  for (; rows > 0 && !ended_; --rows) {
    const absl::StatusOr<bool> more = lines_->Next(&row);
    ended_ = !more.ok() || !*more;
  }
}

void ExtxyzReader::NameByComment(Frame* frame) const {
  frame->id = FindKey(frame->pairs, "id").value_or(FirstWord(*frame));
  if (frame->id.empty()) frame->id = absl::StrCat(stem_, ":", frame->number);
}

void ExtxyzReader::NameByFile(Frame* frame) {
  if (frames_ > 1 || FindKey(frame->pairs, "id")) return;
  std::string_view line;
  const absl::StatusOr<bool> more = NextFilled(&line);
  if (!more.ok()) return;
  if (*more) {
    lines_->Unread();
  } else {
    frame->id = stem_;
  }
}

absl::Status ExtxyzReader::EndWith(absl::Status status) {
  ended_ = true;
  return status;
}

absl::Status ExtxyzReader::Locate(const absl::Status& status, std::uint64_t line, const Frame& frame) const {
  return Refusal(ReasonOf(status), absl::StrCat(path(), ":", line, ": frame ", frame.number,
                                                frame.id.empty() ? "" : absl::StrCat(" (", frame.id, ")"), ": ",
                                                absl::string_view(status.message())));
}

}  // namespace packtrain::ingest
