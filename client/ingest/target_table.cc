#include "client/ingest/target_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/csv_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool IsMissing(std::string_view cell) {
  return cell.empty() || cell == "nan" || cell == "NaN" || cell == "NA" || cell == "null";
}

}  // namespace

// Takes the file row by row. Until all rows are seen every column is a candidate; one that meets a word is
// dropped, or refused where it was named.
class TargetTable::Builder {
 public:
  Builder(const JoinOptions& options, CsvReader& csv) : options_(options), csv_(csv) {}

  absl::StatusOr<TargetTable> Build() {
    ABSL_RETURN_IF_ERROR(ReadHeader());
    std::vector<std::string> row;
    while (true) {
      ABSL_ASSIGN_OR_RETURN(bool more, csv_.Next(&row));
      if (!more) return Finish();
      ABSL_RETURN_IF_ERROR(AddRow(row));
    }
  }

 private:
  struct Column {
    std::size_t position;
    bool numeric = true;
    bool seen = false;  // a number, not just missing values
    std::vector<double> values = {};
  };

  absl::Status ReadHeader() {
    ABSL_ASSIGN_OR_RETURN(bool more, csv_.Next(&header_));
    if (!more) return Refusal("empty_file", absl::StrCat(csv_.path(), ": the table has no header"));
    if (!options_.key.empty()) {
      ABSL_ASSIGN_OR_RETURN(std::size_t key, PositionOf(options_.key, "--key"));
      key_ = key;
    }
    return options_.targets.empty() ? TakeAllColumns() : TakeNamedColumns();
  }

  absl::Status TakeAllColumns() {
    for (std::size_t position = 0; position < header_.size(); ++position) {
      if (position != key_) columns_.push_back({position});
    }
    return absl::OkStatus();
  }

  absl::Status TakeNamedColumns() {
    for (const std::string& name : options_.targets) {
      ABSL_ASSIGN_OR_RETURN(std::size_t position, PositionOf(name, "--targets"));
      columns_.push_back({position});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::size_t> PositionOf(const std::string& name, const char* flag) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) {
      return Refusal("no_column", absl::StrCat(csv_.path(), ": no column '", name, "' (", flag,
                                               "); there are: ", absl::StrJoin(header_, ", ")));
    }
    if (std::find(found + 1, header_.end(), name) != header_.end()) {
      return Refusal("no_column",
                     absl::StrCat(csv_.path(), ": two columns are called '", name, "' (", flag, ")"));
    }
    return static_cast<std::size_t>(found - header_.begin());
  }

  absl::Status AddRow(const std::vector<std::string>& row) {
    if (row.size() != header_.size()) {
      return Bad("ragged_row",
                 absl::StrCat("the row has ", row.size(), " fields, the header ", header_.size()));
    }
    const auto [entry, added] = table_.row_of_.emplace(row[key_], static_cast<std::uint32_t>(lines_.size()));
    if (!added) {
      return Bad("duplicate_key",
                 absl::StrCat("'", row[key_], "' was there before, in line ", lines_[entry->second]));
    }
    lines_.push_back(csv_.row_line());
    for (Column& column : columns_) {
      ABSL_RETURN_IF_ERROR(AddCell(row[column.position], &column));
    }
    return absl::OkStatus();
  }

  absl::Status AddCell(const std::string& cell, Column* column) {
    if (!column->numeric) return absl::OkStatus();
    const std::optional<double> value = IsMissing(cell) ? kMissing : ParseDouble(cell);
    if (value && std::isinf(*value)) {
      return Bad("not_finite",
                 absl::StrCat("'", cell, "' in column '", header_[column->position], "' is not finite"));
    }
    if (value) {
      column->values.push_back(*value);
      column->seen |= !std::isnan(*value);
      return absl::OkStatus();
    }
    *column = {column->position, /*numeric=*/false};
    if (options_.targets.empty()) return absl::OkStatus();
    return Bad("not_a_number",
               absl::StrCat("'", cell, "' in column '", header_[column->position], "' is not a number"));
  }

  absl::StatusOr<TargetTable> Finish() {
    if (options_.targets.empty()) {
      columns_.erase(std::remove_if(columns_.begin(), columns_.end(),
                                    [](const Column& column) { return !column.numeric || !column.seen; }),
                     columns_.end());
    }
    if (columns_.empty()) {
      return Refusal("no_targets",
                     absl::StrCat(csv_.path(), ": no column of numbers beside '", header_[key_], "'"));
    }
    table_.file_ = csv_.path();
    for (const Column& column : columns_) table_.names_.push_back(header_[column.position]);
    for (std::size_t row = 0; row < lines_.size(); ++row) {
      for (const Column& column : columns_) table_.values_.push_back(column.values[row]);
    }
    return std::move(table_);
  }

  absl::Status Bad(std::string_view reason, const std::string& what) const {
    return Refusal(reason, absl::StrCat(csv_.path(), ":", csv_.row_line(), ": ", what));
  }

  const JoinOptions& options_;
  CsvReader& csv_;
  std::vector<std::string> header_;
  std::size_t key_ = 0;
  std::vector<Column> columns_;
  std::vector<std::uint64_t> lines_;  // of each row
  TargetTable table_;
};

absl::StatusOr<TargetTable> TargetTable::Read(const JoinOptions& options, const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<CsvReader> csv, CsvReader::Open(options.file, limits));
  return Builder(options, *csv).Build();
}

std::optional<std::span<const double>> TargetTable::Find(std::string_view id) const {
  const auto row = row_of_.find(absl::string_view(id.data(), id.size()));
  if (row == row_of_.end()) return std::nullopt;
  return std::span(values_).subspan(row->second * names_.size(), names_.size());
}

}  // namespace packtrain::ingest
