// Targets of graphs, by id, out of a CSV file.
#ifndef PACKTRAIN_CLIENT_INGEST_TARGET_TABLE_H_
#define PACKTRAIN_CLIENT_INGEST_TARGET_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/label_table.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

struct JoinOptions {
  std::string file;  // CSV with a header, plain or gzip
  std::string key;   // column that holds the ids; empty: the first
  std::vector<std::string>
      targets;  // columns to take, in this order; empty: all whose cells are mostly numbers
};

// Cells are read by ReadLabelText. A column is a target where more than half of its cells that are not missing
// are numbers; any other cell of it refuses its row, as does one of a column that was named. Immutable once
// read; thread-safe.
class TargetTable {
 public:
  // Reads the whole file. Errors of CsvReader, and refusals: "empty_file", "no_column" (a named column does not
  // exist, or exists twice), "no_targets", "ragged_row", "duplicate_key".
  static absl::StatusOr<TargetTable> Read(const JoinOptions& options, const ReadLimits& limits);

  const std::string& file() const { return file_; }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t rows() const { return row_of_.size(); }

  struct Row {
    std::size_t number = 0;          // from 0
    std::span<const double> values;  // one for each name, NaN where it is missing
  };
  // nullopt where no row has this id.
  std::optional<Row> Find(std::string_view id) const;

  // Refusals "bad_target" and "not_finite" of a row, with file, line and column.
  absl::Status Check(const Row& row) const;

  // All columns but that of the ids, the targets first; `found` counts rows.
  const std::vector<LabelUse>& uses() const { return uses_; }

 private:
  class Builder;

  std::string file_;
  std::vector<std::string> names_;
  std::vector<double> values_;        // [rows, names]
  std::vector<std::uint64_t> lines_;  // by row
  std::vector<LabelUse> uses_;
  absl::flat_hash_map<std::pair<std::size_t, std::size_t>, std::string> bad_cells_;  // by row and name
  absl::flat_hash_map<std::string, std::uint32_t> row_of_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_TARGET_TABLE_H_
