// Rows of a CSV file (RFC 4180), plain or gzip.
#ifndef PACKTRAIN_CLIENT_INGEST_CSV_READER_H_
#define PACKTRAIN_CLIENT_INGEST_CSV_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// Blanks around a field are dropped unless quoted, blank lines are passed over, quoted fields may span lines.
// Used by one thread.
class CsvReader {
 public:
  // Errors of ByteSource::Open.
  static absl::StatusOr<std::unique_ptr<CsvReader>> Open(const std::string& path, const ReadLimits& limits);

  // Reads the next row into `fields`; false at the end. Refusals: those of LineReader::Next, and "bad_csv" for
  // a quote without an end or text behind a closing quote.
  absl::StatusOr<bool> Next(std::vector<std::string>* fields);

  // Line on which the last row began, from 1.
  std::uint64_t row_line() const { return row_line_; }
  const std::string& path() const { return lines_->path(); }

 private:
  explicit CsvReader(std::unique_ptr<LineReader> lines);

  absl::Status ReadField(std::string_view* rest, std::string* field);
  absl::Status ReadQuoted(std::string_view* rest, std::string* field);
  absl::Status Bad(const char* what) const;

  const std::unique_ptr<LineReader> lines_;
  std::uint64_t row_line_ = 0;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_CSV_READER_H_
