// Rows of a CSV file (RFC 4180), whose cells may be parted by another character.
#ifndef PACKTRAIN_CLIENT_INGEST_CSV_READER_H_
#define PACKTRAIN_CLIENT_INGEST_CSV_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// Blanks around a field are dropped unless quoted, blank lines are passed over, quoted fields may span lines. A
// row is at most as long as a line may be. Used by one thread.
class CsvReader {
 public:
  // Errors of ByteSource::Open.
  static absl::StatusOr<std::unique_ptr<CsvReader>> Open(const std::string& path, const ReadLimits& limits);
  // Reads what `lines` has left. `delimiter` stands between the cells; it is a comma, a tab or the like, no
  // quote.
  CsvReader(std::unique_ptr<LineReader> lines, const ReadLimits& limits, char delimiter = ',');

  // Reads the next row into `fields`; false at the end. Refusals: those of LineReader::Next,
  // "line_too_long" also for a row of several lines, and "bad_csv" for a quote without an end, both of which
  // leave the rest, or text behind a closing quote.
  absl::StatusOr<bool> Next(std::vector<std::string>* fields);

  // Line on which the last row began, from 1.
  std::uint64_t row_line() const { return row_line_; }
  const std::string& path() const { return lines_->path(); }

 private:
  // What may stand around a field.
  const char* Blanks() const { return delimiter_ == '\t' ? " " : " \t"; }
  absl::Status ReadField(std::string_view* rest, std::string* field);
  absl::Status ReadQuoted(std::string_view* rest, std::string* field);
  // The next line of a row whose quote is still open.
  absl::Status ContinueRow(std::string_view* rest);
  absl::Status Bad(const char* what) const;

  const std::unique_ptr<LineReader> lines_;
  const std::size_t max_row_bytes_;
  const char delimiter_;
  std::uint64_t row_line_ = 0;
  std::size_t row_bytes_ = 0;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_CSV_READER_H_
