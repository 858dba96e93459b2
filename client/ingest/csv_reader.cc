#include "client/ingest/csv_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {

absl::StatusOr<std::unique_ptr<CsvReader>> CsvReader::Open(const std::string& path, const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> lines, LineReader::Open(path, limits));
  return std::unique_ptr<CsvReader>(new CsvReader(std::move(lines), limits));
}

CsvReader::CsvReader(std::unique_ptr<LineReader> lines, const ReadLimits& limits, char delimiter)
    : lines_(std::move(lines)), max_row_bytes_(limits.max_line_bytes), delimiter_(delimiter) {}

absl::StatusOr<bool> CsvReader::Next(std::vector<std::string>* fields) {
  fields->clear();
  std::string_view rest;
  do {
    absl::StatusOr<bool> more = lines_->Next(&rest);
    if (!more.ok() || !*more) return more;
  } while (Trim(rest).empty());
  row_line_ = lines_->line_number();
  row_bytes_ = rest.size();
  while (true) {
    ABSL_RETURN_IF_ERROR(ReadField(&rest, &fields->emplace_back()));
    if (rest.empty()) return true;
    rest.remove_prefix(1);
  }
}

// Leaves `rest` at the delimiter, or empty at the end of the row.
absl::Status CsvReader::ReadField(std::string_view* rest, std::string* field) {
  const std::size_t first = std::min(rest->find_first_not_of(Blanks()), rest->size());
  if (first < rest->size() && (*rest)[first] == '"') {
    rest->remove_prefix(first + 1);
    return ReadQuoted(rest, field);
  }
  const std::size_t end = std::min(rest->find(delimiter_), rest->size());
  *field = Trim(rest->substr(0, end));
  rest->remove_prefix(end);
  return absl::OkStatus();
}

absl::Status CsvReader::ReadQuoted(std::string_view* rest, std::string* field) {
  while (true) {
    const std::size_t quote = rest->find('"');
    if (quote == std::string_view::npos) {
      field->append(*rest).push_back('\n');
      ABSL_RETURN_IF_ERROR(ContinueRow(rest));
      continue;
    }
    field->append(rest->substr(0, quote));
    rest->remove_prefix(quote + 1);
    if (!rest->starts_with('"')) break;
    field->push_back('"');
    rest->remove_prefix(1);
  }
  *rest = rest->substr(std::min(rest->find_first_not_of(Blanks()), rest->size()));
  if (rest->empty() || rest->front() == delimiter_) return absl::OkStatus();
  return Bad("text after a closing quote");
}

absl::Status CsvReader::ContinueRow(std::string_view* rest) {
  ABSL_ASSIGN_OR_RETURN(bool more, lines_->Next(rest));
  if (!more) return LeavingRest(Bad("a quoted field does not end"));
  row_bytes_ += rest->size() + 1;
  if (row_bytes_ <= max_row_bytes_) return absl::OkStatus();
  return LeavingRest(
      RefusedAt({path(), "", 0, row_line_},
                Refusal("line_too_long", absl::StrCat("the row is longer than ", max_row_bytes_,
                                                      " bytes (--max-line-bytes); is a quote left open?"))));
}

absl::Status CsvReader::Bad(const char* what) const {
  const std::uint64_t last = lines_->line_number();
  return RefusedAt(
      {path(), "", 0, row_line_},
      Refusal("bad_csv",
              absl::StrCat(what, last > row_line_ ? absl::StrCat("; the row reaches to line ", last) : "")));
}

}  // namespace packtrain::ingest
