// Rows of numbers in a file of a benchmark folder, whose files go in step: row k of one belongs to row k of
// others.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_ROW_FILE_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_ROW_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/input_folder.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// A cell that is a whole number, as "3", "-1" or "3.0"; nullopt: any other.
std::optional<std::int64_t> ParseWhole(std::string_view cell);

// Cells are parted by commas, with or without blanks around them. Used by one thread.
class RowFile {
 public:
  // Opens a file of `folder`. Errors of InputFolder::Open, refusals of LineReader::Next.
  static absl::StatusOr<std::unique_ptr<RowFile>> Open(InputFolder& folder, std::string_view name,
                                                       const ReadLimits& limits);

  // Of the first row; 0 of an empty file.
  std::size_t columns() const { return columns_; }

  // Reads the next row; false at the end, that is where all that follows is blank. Refusals of
  // LineReader::Next, and "blank_row"; nothing can be read behind them.
  absl::StatusOr<bool> Next();
  // As Next, but the end is refused as "short_file", by the `what` of which there are more.
  absl::Status NextRequired(std::string_view what);
  // Makes the next call of Next give the same row again.
  void Unread() { lines_->Unread(); }

  // Of the row read last. Valid until the next call of Next.
  const std::vector<std::string_view>& cells() const { return cells_; }

  // The numbers of the row, appended to a field. Refusals: "bad_row" where the row has another number of cells
  // than the first, "not_a_number" where a cell is none that fits the field's type, "not_finite"; without the
  // place.
  absl::Status AppendTo(FieldValues* values) const;
  // The cell as a whole number of `min` to `max`, or "not_a_number" or "bad_row".
  absl::StatusOr<std::int64_t> Whole(std::size_t cell, std::int64_t min, std::int64_t max) const;

  // `refusal` of the graph of this number, or where it is 0 of whichever graph is being read, at this row, or
  // where a first one should be.
  absl::Status Locate(const absl::Status& refusal, std::uint64_t graph) const;

  const std::string& path() const { return lines_->path(); }
  std::uint64_t line() const { return lines_->line_number(); }

 private:
  explicit RowFile(std::unique_ptr<LineReader> lines) : lines_(std::move(lines)) {}
  absl::Status CheckColumns() const;

  const std::unique_ptr<LineReader> lines_;
  std::size_t columns_ = 0;
  std::vector<std::string_view> cells_;
};

// The one file of `folder` that is called `file`, in whatever folder, packed or not; empty: there is none. The
// refusal "several_data_sets": there are more.
absl::StatusOr<std::string> FindOne(const InputFolder& folder, std::string_view file);

// "DS_A.txt" of "DS_A.txt.gz".
std::string_view WithoutPacking(std::string_view name);

// Whether all cells of a file are written as whole numbers, without point and exponent. Reads the file.
absl::StatusOr<bool> HoldsWholeNumbers(InputFolder& folder, std::string_view name);

// `name` where a row has one column, else name_0, name_1 and so on: names of labels.
std::vector<std::string> ColumnNames(std::string_view name, std::size_t columns);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_ROW_FILE_H_
