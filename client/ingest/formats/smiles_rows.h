// Rows of a file of SMILES, in whatever way their cells are parted.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_ROWS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/csv_reader.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// A SMILES as it stands in a cell, "CCO |...| ethanol".
struct SmilesCell {
  std::string_view smiles;
  std::string_view extension;  // CXSMILES, with its bars; empty: none
  std::string_view name;       // what else follows
};
SmilesCell SplitSmilesCell(std::string_view cell);

// The first line that is not blank decides. Where it has a tab, tabs part the cells of all rows, as commas do
// in CSV. Where it is a SMILES, with a name or without, all lines are a SMILES with its CXSMILES block, and
// words. Otherwise the rows are CSV. Used by one thread.
class SmilesRows {
 public:
  // Reads up to the first line that is not blank; a failure is that of Next.
  SmilesRows(std::unique_ptr<LineReader> lines, const ReadLimits& limits);

  // The next row that is not blank; false at the end. Refusals are those of CsvReader::Next.
  absl::StatusOr<bool> Next(std::vector<std::string>* cells);
  // A line of words becomes so many cells, the last of which has all that is left. Where `has_header` is false,
  // cells that a line lacks are empty. As long as nothing is said, each word is a cell.
  void SetColumns(std::size_t count, bool has_header);

  // Whether all lines are a SMILES and words.
  bool are_words() const { return table_ == nullptr; }
  // Makes the next call of Next read the last line of words again.
  void Unread() { lines_->Unread(); }

  // Line on which the last row began, from 1.
  std::uint64_t row_line() const;
  const std::string& path() const;

 private:
  void SplitWords(std::string_view line, std::vector<std::string>* cells) const;

  absl::Status failure_;               // of reading the first line
  std::unique_ptr<LineReader> lines_;  // null: the rows are those of `table_`
  std::unique_ptr<CsvReader> table_;   // null: the rows are lines of words
  std::size_t columns_ = std::numeric_limits<std::size_t>::max();
  bool has_header_ = true;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_SMILES_ROWS_H_
