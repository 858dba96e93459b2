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
#include "client/ingest/origin.h"
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
  struct Cells {
    std::size_t position;   // of the column
    bool is_named = false;  // by --targets
    std::vector<double> values = {};
    std::vector<LabelText::Kind> kinds = {};
    std::size_t numbers = 0;
    std::size_t texts = 0;
    std::size_t arrays = 0;
    std::string first_no_number = {};
    std::vector<std::pair<std::size_t, std::string>> bad_cells = {};  // by row
  };

  absl::Status ReadHeader() {
    ABSL_ASSIGN_OR_RETURN(bool more, csv_.Next(&header_));
    if (!more) return RefusedWhole(csv_.path(), "empty_file", "the table has no header");
    header_line_ = csv_.row_line();
    if (!options_.key.empty()) {
      ABSL_ASSIGN_OR_RETURN(std::size_t key, PositionOf(options_.key, "--key"));
      key_ = key;
    }
    for (const std::string& name : options_.targets) {
      ABSL_ASSIGN_OR_RETURN(std::size_t position, PositionOf(name, "--targets"));
      columns_.push_back({.position = position, .is_named = true});
    }
    for (std::size_t position = 0; position < header_.size(); ++position) {
      const bool is_taken = std::ranges::find(columns_, position, &Cells::position) != columns_.end();
      if (position != key_ && !is_taken) columns_.push_back({.position = position});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::size_t> PositionOf(const std::string& name, const char* flag) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) {
      return RefusedWhole(
          csv_.path(), "no_column",
          absl::StrCat("no column '", name, "' (", flag, "); there are: ", absl::StrJoin(header_, ", ")));
    }
    if (std::find(found + 1, header_.end(), name) != header_.end()) {
      return RefusedWhole(csv_.path(), "no_column",
                          absl::StrCat("two columns are called '", name, "' (", flag, ")"));
    }
    return static_cast<std::size_t>(found - header_.begin());
  }

  absl::Status AddRow(const std::vector<std::string>& row) {
    if (row == header_) {
      return Bad("second_header", "the header comes a second time; were two tables put into one file?");
    }
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
    table_.ids_.push_back(&entry->first);
    for (Cells& column : columns_) AddCell(row[column.position], &column);
    table_.lines_.push_back(csv_.row_line());
    return absl::OkStatus();
  }

  void AddCell(const std::string& cell, Cells* column) {
    const LabelText text = ReadLabelText(cell);
    column->kinds.push_back(text.kind);
    if (text.kind == LabelText::Kind::kNumber) {
      ++column->numbers;
      column->values.push_back(text.number);
    } else if (text.kind == LabelText::Kind::kMissing) {
      column->values.push_back(kMissing);
    } else {
      ++(text.kind == LabelText::Kind::kArray ? column->arrays : column->texts);
      if (column->first_no_number.empty()) {
        column->first_no_number = absl::StrCat(csv_.path(), ":", csv_.row_line(), ": ", Shown(cell));
      }
      if (column->bad_cells.size() < kMaxBadCells) {
        column->bad_cells.emplace_back(table_.lines_.size(), cell.substr(0, kMaxShownBytes));
      }
      column->values.push_back(std::bit_cast<double>(kBadBits));
    }
  }

  // A reason of LabelUse; empty: the column is a target.
  std::string_view WhyNoTarget(const Cells& column) const {
    if (!options_.targets.empty()) return column.is_named ? "" : "not_named";
    if (const std::string_view why = WhyNoTargetName(header_[column.position]); !why.empty()) return why;
    if (column.numbers > column.texts + column.arrays) return "";
    if (column.texts > 0) return kText;
    return column.arrays > 0 ? kArray : "empty";
  }

  absl::StatusOr<TargetTable> Finish() {
    const auto others = std::stable_partition(
        columns_.begin(), columns_.end(), [this](const Cells& column) { return WhyNoTarget(column).empty(); });
    const auto targets = static_cast<std::size_t>(others - columns_.begin());
    if (targets == 0) {
      return RefusedWhole(csv_.path(), "no_targets",
                          absl::StrCat("no column of numbers beside '", header_[key_], "'"));
    }
    ABSL_RETURN_IF_ERROR(CheckHeader(targets));
    table_.file_ = csv_.path();
    table_.key_ = header_[key_];
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      Cells& column = columns_[k];
      const std::string& name = header_[column.position];
      table_.columns_.push_back({name, std::string(WhyNoTarget(column)), std::move(column.first_no_number)});
      if (k >= targets) continue;
      if (std::ranges::find(table_.names_, name) != table_.names_.end()) {
        return RefusedWhole(csv_.path(), "no_column",
                            absl::StrCat("two columns of numbers are called '", name, "'"));
      }
      table_.names_.push_back(name);
      for (auto& [row, text] : column.bad_cells) table_.bad_cells_[{row, k}] = std::move(text);
    }
    for (std::size_t row = 0; row < table_.lines_.size(); ++row) {
      for (std::size_t k = 0; k < targets; ++k) table_.values_.push_back(columns_[k].values[row]);
      for (const Cells& column : columns_) table_.cells_.push_back(column.kinds[row]);
    }
    return std::move(table_);
  }

  // A line of values in place of the names would be one row lost.
  absl::Status CheckHeader(std::size_t targets) const {
    if (!options_.key.empty() || !options_.targets.empty()) return absl::OkStatus();
    std::size_t numbers = 0;
    for (std::size_t k = 0; k < targets; ++k) {
      const LabelText text = ReadLabelText(header_[columns_[k].position]);
      if (text.kind == LabelText::Kind::kText || text.kind == LabelText::Kind::kArray) return absl::OkStatus();
      numbers += text.kind == LabelText::Kind::kNumber ? 1 : 0;
    }
    if (numbers == 0) return absl::OkStatus();
    return RefusedAt(
        {csv_.path(), "", 0, header_line_},
        Refusal("no_header",
                absl::StrCat("the table begins with values, ", Shown(absl::StrJoin(header_, ",")),
                             ", and not with a line of the names of its columns (where these are the names, "
                             "--key says which of them is that of the ids)")));
  }

  absl::Status Bad(std::string_view reason, const std::string& what) const {
    return RefusedAt({csv_.path(), "", 0, csv_.row_line()}, Refusal(reason, what));
  }

  const JoinOptions& options_;
  CsvReader& csv_;
  std::vector<std::string> header_;
  std::size_t key_ = 0;
  std::uint64_t header_line_ = 0;
  std::vector<Cells> columns_;
  TargetTable table_;
};

absl::StatusOr<TargetTable> TargetTable::Read(const JoinOptions& options, const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<CsvReader> csv, CsvReader::Open(options.file, limits));
  absl::StatusOr<TargetTable> table = Builder(options, *csv).Build();
  if (!table.ok()) return WithPlace(table.status(), "");
  return table;
}

std::optional<TargetTable::Row> TargetTable::Find(std::string_view id) const {
  const auto row = row_of_.find(absl::string_view(id.data(), id.size()));
  if (row == row_of_.end()) return std::nullopt;
  const std::size_t number = row->second;
  return Row{number, std::span(values_).subspan(number * names_.size(), names_.size()),
             std::span(cells_).subspan(number * columns_.size(), columns_.size())};
}

std::string TargetTable::PlaceOf(const Row& row) const { return absl::StrCat(file_, ":", lines_[row.number]); }

absl::Status TargetTable::Check(const Row& row) const {
  for (std::size_t k = 0; k < row.values.size(); ++k) {
    const bool is_bad = IsBad(row.values[k]);
    if (!is_bad && !std::isinf(row.values[k])) continue;
    const auto text = bad_cells_.find({row.number, k});
    const std::string shown = text == bad_cells_.end() ? "the cell" : absl::StrCat("'", text->second, "'");
    return Refusal(is_bad ? "bad_target" : "not_finite",
                   absl::StrCat(PlaceOf(row), ": ", shown, " in column '", names_[k], "' is not ",
                                is_bad ? "a number" : "finite"));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
