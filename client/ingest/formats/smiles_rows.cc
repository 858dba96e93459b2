#include "client/ingest/formats/smiles_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "client/ingest/formats/molecule_parser.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr char kWords = ' ';

// Reads up to a line that is not blank, and leaves it unread; empty at the end of the file.
absl::StatusOr<std::string_view> PeekFilled(LineReader& lines) {
  std::string_view line;
  do {
    ABSL_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) return std::string_view();
  } while (Trim(line).empty());
  lines.Unread();
  return line;
}

// Whether a line without a tab is a SMILES with a name, "CCO 1,2-ethanediol", and no row of a table, "N
// atoms,smiles".
bool IsLineOfWords(std::string_view line) {
  const SmilesCell cell = SplitSmilesCell(line);
  if (line.find('"') != line.npos || cell.smiles.find(',') != line.npos) return false;
  if (cell.name.find(',') == line.npos) return true;
  return IsSmiles(cell.smiles) && !absl::StrContains(absl::AsciiStrToLower(std::string(line)), "smiles");
}

char DelimiterOf(std::string_view line) {
  if (line.find('\t') != line.npos) return '\t';
  return IsLineOfWords(Trim(line)) ? kWords : ',';
}

// A table of one column has no delimiter, but may have quotes.
std::string_view WithoutQuotes(std::string_view line) {
  const bool quoted = line.size() >= 2 && line.starts_with('"') && line.ends_with('"');
  return quoted ? Trim(line.substr(1, line.size() - 2)) : line;
}

}  // namespace

SmilesCell SplitSmilesCell(std::string_view cell) {
  SmilesCell split;
  std::string_view rest = cell;
  split.smiles = NextWord(&rest);
  rest = Trim(rest);
  if (rest.starts_with('|')) {
    const std::size_t end = std::min(rest.find('|', 1), rest.size() - 1) + 1;
    split.extension = rest.substr(0, end);
    rest = Trim(rest.substr(end));
  }
  split.name = rest;
  return split;
}

SmilesRows::SmilesRows(std::unique_ptr<LineReader> lines, const ReadLimits& limits) : lines_(std::move(lines)) {
  const absl::StatusOr<std::string_view> first = PeekFilled(*lines_);
  failure_ = first.status();
  if (!first.ok()) return;
  const char delimiter = DelimiterOf(*first);
  if (delimiter != kWords) table_ = std::make_unique<CsvReader>(std::move(lines_), limits, delimiter);
}

absl::StatusOr<bool> SmilesRows::Next(std::vector<std::string>* cells) {
  ABSL_RETURN_IF_ERROR(failure_);
  if (table_ != nullptr) return table_->Next(cells);
  std::string_view line;
  do {
    absl::StatusOr<bool> more = lines_->Next(&line);
    if (!more.ok() || !*more) return more;
  } while (Trim(line).empty());
  SplitWords(WithoutQuotes(Trim(line)), cells);
  return true;
}

void SmilesRows::SetColumns(std::size_t count, bool has_header) {
  columns_ = count;
  has_header_ = has_header;
}

// One cell more than there are columns, where a line of a file of SMILES alone holds more.
void SmilesRows::SplitWords(std::string_view line, std::vector<std::string>* cells) const {
  const SmilesCell first = SplitSmilesCell(line);
  std::string_view rest = first.name;
  cells->clear();
  cells->emplace_back(Trim(line.substr(0, line.size() - rest.size())));
  while (!rest.empty()) {
    if (cells->size() + 1 >= columns_) {
      cells->emplace_back(Trim(rest));
      return;
    }
    cells->emplace_back(NextWord(&rest));
    rest = Trim(rest);
  }
  if (!has_header_ && cells->size() < columns_) cells->resize(columns_);
}

std::uint64_t SmilesRows::row_line() const {
  return table_ == nullptr ? lines_->line_number() : table_->row_line();
}

const std::string& SmilesRows::path() const { return table_ == nullptr ? lines_->path() : table_->path(); }

}  // namespace packtrain::ingest
