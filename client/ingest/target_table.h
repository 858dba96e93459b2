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
#include "absl/container/node_hash_map.h"
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

// How the rows of a table and the graphs of an import met.
struct JoinUse {
  std::string file;
  std::uint64_t graphs = 0;  // that were read
  std::uint64_t graphs_without_row = 0;
  std::vector<std::string> first_graphs = {};  // of them, the first ids
  std::uint64_t rows = 0;
  std::uint64_t rows_without_graph = 0;
  std::vector<std::string> first_rows = {};  // likewise
};

// Cells are read by ReadLabelText. A column is a target where more than half of its cells that are not missing
// are numbers; any other cell of it refuses its row, as does one of a column that was named. Immutable once
// read; thread-safe.
class TargetTable {
 public:
  // Reads the whole file. Errors of CsvReader, and refusals, with their place in the message: "empty_file",
  // "no_header" (the first line has numbers where it should name targets, and no column was asked for by name),
  // "no_column" (a named column does not exist, or exists twice), "no_targets", "ragged_row", "duplicate_key".
  static absl::StatusOr<TargetTable> Read(const JoinOptions& options, const ReadLimits& limits);

  const std::string& file() const { return file_; }
  // Of the targets, which are the first columns.
  const std::vector<std::string>& names() const { return names_; }
  std::size_t rows() const { return ids_.size(); }
  // The column that holds the ids, and the id of a row.
  const std::string& key() const { return key_; }
  const std::string& id(std::size_t row) const { return *ids_[row]; }

  // Any column but that of the ids.
  struct Column {
    std::string name;
    std::string reason;           // of LabelUse; empty: it is a target
    std::string first_no_number;  // as "FILE:LINE: 'WORD'"; empty: all its cells are numbers or missing
  };
  const std::vector<Column>& columns() const { return columns_; }

  struct Row {
    std::size_t number = 0;                  // from 0
    std::span<const double> values;          // one for each name, NaN where it is missing
    std::span<const LabelText::Kind> cells;  // one for each column
  };
  // nullopt where no row has this id.
  std::optional<Row> Find(std::string_view id) const;

  // "FILE:LINE" of a row.
  std::string PlaceOf(const Row& row) const;
  // Refusals "bad_target" and "not_finite" of a row, with file, line and column.
  absl::Status Check(const Row& row) const;

 private:
  class Builder;

  std::string file_;
  std::string key_;
  std::vector<Column> columns_;
  std::vector<std::string> names_;
  std::vector<double> values_;                                                       // [rows, names]
  std::vector<LabelText::Kind> cells_;                                               // [rows, columns]
  std::vector<std::uint64_t> lines_;                                                 // by row
  std::vector<const std::string*> ids_;                                              // by row, in `row_of_`
  absl::flat_hash_map<std::pair<std::size_t, std::size_t>, std::string> bad_cells_;  // by row and name
  absl::node_hash_map<std::string, std::uint32_t> row_of_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_TARGET_TABLE_H_
