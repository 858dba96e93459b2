// Targets of graphs, by id, out of a CSV file.
#ifndef PACKTRAIN_CLIENT_INGEST_TARGET_TABLE_H_
#define PACKTRAIN_CLIENT_INGEST_TARGET_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

struct JoinOptions {
  std::string file;                  // CSV with a header, plain or gzip
  std::string key;                   // column that holds the ids; empty: the first
  std::vector<std::string> targets;  // columns to take, in this order; empty: all that hold nothing but numbers
};

// An empty cell, "nan", "NA" and "null" are missing values. Immutable once read; thread-safe.
class TargetTable {
 public:
  // Reads the whole file. Errors of CsvReader, and refusals: "empty_file", "no_column" (a named column does not
  // exist, or exists twice), "no_targets", "ragged_row", "duplicate_key", "not_a_number" (in a named column),
  // "not_finite".
  static absl::StatusOr<TargetTable> Read(const JoinOptions& options, const ReadLimits& limits);

  const std::string& file() const { return file_; }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t rows() const { return row_of_.size(); }

  // One value for each name, NaN where it is missing; nullopt where no row has this id.
  std::optional<std::span<const double>> Find(std::string_view id) const;

 private:
  class Builder;

  std::string file_;
  std::vector<std::string> names_;
  std::vector<double> values_;  // [rows, names]
  absl::flat_hash_map<std::string, std::uint32_t> row_of_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_TARGET_TABLE_H_
