#include "client/ingest/target_table.h"

#include <algorithm>
#include <bit>
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

// In place of a cell that is no number: a NaN that no text gives.
constexpr std::uint64_t kBadBits = 0x7ff8'0000'0000'0bad;
// Cells whose text is kept for messages, and how much of it.
constexpr std::size_t kMaxBadCells = 10'000;
constexpr std::size_t kMaxShownBytes = 40;

bool IsBad(double value) { return std::bit_cast<std::uint64_t>(value) == kBadBits; }

}  // namespace

// Takes the file row by row. Only when all rows are seen is it known which columns are targets.
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
    std::vector<double> values = {};
    std::size_t numbers = 0;
    std::size_t texts = 0;
    std::vector<std::pair<std::size_t, std::string>> bad_cells = {};  // by row
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
    const auto [entry, added] =
        table_.row_of_.emplace(row[key_], static_cast<std::uint32_t>(table_.lines_.size()));
    if (!added) {
      return Bad("duplicate_key",
                 absl::StrCat("'", row[key_], "' was there before, in line ", table_.lines_[entry->second]));
    }
    for (Column& column : columns_) AddCell(row[column.position], &column);
    table_.lines_.push_back(csv_.row_line());
    return absl::OkStatus();
  }

  void AddCell(const std::string& cell, Column* column) {
    const LabelText text = ReadLabelText(cell);
    if (text.kind == LabelText::Kind::kNumber) {
      ++column->numbers;
      column->values.push_back(text.number);
    } else if (text.kind == LabelText::Kind::kMissing) {
      column->values.push_back(kMissing);
    } else {
      ++column->texts;
      if (column->bad_cells.size() < kMaxBadCells) {
        column->bad_cells.emplace_back(table_.lines_.size(), cell.substr(0, kMaxShownBytes));
      }
      column->values.push_back(std::bit_cast<double>(kBadBits));
    }
  }

  bool IsTarget(const Column& column) const {
    return !options_.targets.empty() || column.numbers > column.texts;
  }

  absl::StatusOr<TargetTable> Finish() {
    AddUses();
    std::erase_if(columns_, [this](const Column& column) { return !IsTarget(column); });
    if (columns_.empty()) {
      return Refusal("no_targets",
                     absl::StrCat(csv_.path(), ": no column of numbers beside '", header_[key_], "'"));
    }
    table_.file_ = csv_.path();
    for (Column& column : columns_) {
      for (auto& [row, text] : column.bad_cells) {
        table_.bad_cells_[{row, table_.names_.size()}] = std::move(text);
      }
      table_.names_.push_back(header_[column.position]);
    }
    for (std::size_t row = 0; row < table_.lines_.size(); ++row) {
      for (const Column& column : columns_) table_.values_.push_back(column.values[row]);
    }
    return std::move(table_);
  }

  void AddUses() {
    std::vector<bool> taken(header_.size());
    taken[key_] = true;
    for (const Column& column : columns_) {
      taken[column.position] = true;
      const bool used = IsTarget(column);
      const char* const reason = used ? "" : column.texts > 0 ? "text" : "empty";
      table_.uses_.push_back(
          {header_[column.position], column.numbers + column.texts, table_.lines_.size(), used, reason});
    }
    for (std::size_t position = 0; position < header_.size(); ++position) {
      if (!taken[position]) {
        table_.uses_.push_back(
            {.name = header_[position], .graphs = table_.lines_.size(), .reason = "not_named"});
      }
    }
    std::stable_partition(table_.uses_.begin(), table_.uses_.end(),
                          [](const LabelUse& use) { return use.used; });
  }

  absl::Status Bad(std::string_view reason, const std::string& what) const {
    return Refusal(reason, absl::StrCat(csv_.path(), ":", csv_.row_line(), ": ", what));
  }

  const JoinOptions& options_;
  CsvReader& csv_;
  std::vector<std::string> header_;
  std::size_t key_ = 0;
  std::vector<Column> columns_;
  TargetTable table_;
};

absl::StatusOr<TargetTable> TargetTable::Read(const JoinOptions& options, const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<CsvReader> csv, CsvReader::Open(options.file, limits));
  return Builder(options, *csv).Build();
}

std::optional<TargetTable::Row> TargetTable::Find(std::string_view id) const {
  const auto row = row_of_.find(absl::string_view(id.data(), id.size()));
  if (row == row_of_.end()) return std::nullopt;
  return Row{row->second, std::span(values_).subspan(row->second * names_.size(), names_.size())};
}

absl::Status TargetTable::Check(const Row& row) const {
  for (std::size_t k = 0; k < row.values.size(); ++k) {
    const bool is_bad = IsBad(row.values[k]);
    if (!is_bad && !std::isinf(row.values[k])) continue;
    const auto text = bad_cells_.find({row.number, k});
    const std::string shown = text == bad_cells_.end() ? "the cell" : absl::StrCat("'", text->second, "'");
    return Refusal(is_bad ? "bad_target" : "not_finite",
                   absl::StrCat(file_, ":", lines_[row.number], ": ", shown, " in column '", names_[k],
                                "' is not ", is_bad ? "a number" : "finite"));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
