#include "client/ingest/formats/cif_cutter.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::string_view kBlockStart = "data_";

bool BeginsBlock(std::string_view line) {
  const std::string_view word = Trim(line).substr(0, kBlockStart.size());
  return absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()),
                                absl::string_view(kBlockStart.data(), kBlockStart.size()));
}

bool IsComment(std::string_view line) {
  const std::string_view text = Trim(line);
  return text.empty() || text.front() == '#';
}

// Text about a publication, as journals put it in front of the blocks with structures.
bool IsPreamble(std::string_view text) {
  const std::string_view name = NameOfCifBlock(text);
  return absl::EqualsIgnoreCase(absl::string_view(name.data(), name.size()), "global") &&
         text.find("_cell_length_") == text.npos && text.find("_atom_site_") == text.npos;
}

}  // namespace

std::string_view NameOfCifBlock(std::string_view text) {
  std::string_view rest = text.substr(0, text.find('\n'));
  const std::string_view word = NextWord(&rest);
  return word.substr(std::min(word.size(), kBlockStart.size()));
}

absl::StatusOr<bool> CifCutter::Next(RawRecord* record) {
  while (true) {
    record->text.clear();
    record->origin = {lines_->path(), kCifRecordWord, records_ + 1, lines_->line_number()};
    if (ended_) return false;
    ABSL_ASSIGN_OR_RETURN(const bool found, FindBlock());
    if (!found) {
      ended_ = true;
      if (records_ > 0) return false;
      return RefusedWhole(lines_->path(), "empty_file", "the file holds no data_ block");
    }
    ++records_;
    record->origin.line = lines_->line_number();
    ABSL_RETURN_IF_ERROR(CutBlock(record));
    if (!IsPreamble(record->text)) return true;
    --records_;
  }
}

absl::StatusOr<bool> CifCutter::FindBlock() {
  while (true) {
    const absl::StatusOr<bool> more = lines_->Next(&line_);
    if (!more.ok()) return End(more.status());
    if (!*more) return false;
    if (BeginsBlock(line_)) return true;
    if (!IsComment(line_)) return PassOver();
  }
}

absl::Status CifCutter::PassOver() {
  const absl::Status refusal = RefusedAt(
      {lines_->path(), kCifRecordWord, ++records_, lines_->line_number()},
      Refusal("not_cif", absl::StrCat("expected data_ and the name of a block, found ", Shown(line_))));
  while (true) {
    const absl::StatusOr<bool> more = lines_->Next(&line_);
    if (!more.ok() || !*more) return End(LeavingRest(refusal));
    if (!BeginsBlock(line_)) continue;
    lines_->Unread();
    return WithMessage(refusal, absl::StrCat(refusal.message(), "; the next block is read from line ",
                                             lines_->line_number() + 1, " on"));
  }
}

absl::Status CifCutter::CutBlock(RawRecord* record) {
  bool in_text_field = false, too_long = false;
  std::uint64_t text_field_line = 0;  // on which it begins
  do {
    // A text field begins and ends with a semicolon in the first column.
    if (line_.starts_with(';')) {
      in_text_field = !in_text_field;
      text_field_line = lines_->line_number();
    }
    too_long = too_long || record->text.size() + line_.size() >= max_block_bytes_;
    if (!too_long) record->text.append(line_).push_back('\n');
    const absl::StatusOr<bool> more = lines_->Next(&line_);
    if (!more.ok()) return End(more.status());
    if (!*more) break;
    if (!in_text_field && BeginsBlock(line_)) {
      lines_->Unread();
      break;
    }
  } while (true);
  if (in_text_field) {
    return End(LeavingRest(
        RefusedAt({record->origin.file, kCifRecordWord, records_, text_field_line},
                  Refusal("bad_cif", absl::StrCat("the text field that begins here, in block ",
                                                  Shown(NameOfCifBlock(record->text)), ", has no end")))));
  }
  if (!too_long) return absl::OkStatus();
  return RefusedAt(
      record->origin,
      Refusal("block_too_long", absl::StrCat("the block is longer than ", max_block_bytes_, " bytes, ",
                                             kMaxBlockLines, " times --max-line-bytes")));
}

absl::Status CifCutter::End(absl::Status status) {
  ended_ = true;
  return status;
}

}  // namespace packtrain::ingest
