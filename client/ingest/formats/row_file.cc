#include "client/ingest/formats/row_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Whole numbers up to here are exact as doubles.
constexpr double kMaxWhole = 9007199254740992.0;

absl::Status NotANumber(std::string_view cell, std::string_view expected) {
  return Refusal("not_a_number", absl::StrCat(Shown(cell), " is not ", std::string(expected)));
}

template <typename T>
absl::Status AppendCell(std::string_view cell, std::vector<T>& out) {
  if constexpr (std::is_floating_point_v<T>) {
    const std::optional<double> number = ParseDouble(cell);
    if (!number) return NotANumber(cell, "a number");
    const T element = static_cast<T>(*number);
    if (!std::isfinite(element)) return Refusal("not_finite", absl::StrCat(Shown(cell), " is not finite"));
    out.push_back(element);
  } else {
    const std::optional<std::int64_t> number = ParseWhole(cell);
    if (!number || !std::in_range<T>(*number)) {
      return NotANumber(cell, absl::StrCat("a whole number from ", std::numeric_limits<T>::min(), " to ",
                                           std::numeric_limits<T>::max()));
    }
    out.push_back(static_cast<T>(*number));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<std::int64_t> ParseWhole(std::string_view cell) {
  const std::optional<double> number = ParseDouble(cell);
  if (!number || std::abs(*number) > kMaxWhole || *number != std::floor(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

absl::StatusOr<std::unique_ptr<RowFile>> RowFile::Open(InputFolder& folder, std::string_view name,
                                                       const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, folder.Open(name));
  std::unique_ptr<RowFile> file(new RowFile(std::make_unique<LineReader>(std::move(bytes), limits)));
  ABSL_ASSIGN_OR_RETURN(const bool more, file->Next());
  if (!more) return file;
  file->columns_ = file->cells_.size();
  file->Unread();
  return file;
}

absl::StatusOr<bool> RowFile::Next() {
  std::string_view text;
  ABSL_ASSIGN_OR_RETURN(bool more, lines_->Next(&text));
  cells_.clear();
  if (!more) return false;
  if (Trim(text).empty()) {
    while (more && Trim(text).empty()) {
      ABSL_ASSIGN_OR_RETURN(more, lines_->Next(&text));
    }
    if (!more) return false;
    return Locate(Refusal("blank_row", "there is a blank line before this row"), 0);
  }
  while (true) {
    const std::size_t comma = text.find(',');
    cells_.push_back(Trim(text.substr(0, comma)));
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}

absl::Status RowFile::NextRequired(std::string_view what) {
  ABSL_ASSIGN_OR_RETURN(const bool more, Next());
  if (more) return absl::OkStatus();
  return Locate(Refusal("short_file", absl::StrCat("the file ends, but there are more ", std::string(what))),
                0);
}

absl::Status RowFile::CheckColumns() const {
  if (cells_.size() == columns_) return absl::OkStatus();
  return Refusal("bad_row",
                 absl::StrCat("the row has ", cells_.size(), " columns, the first row has ", columns_));
}

absl::Status RowFile::AppendTo(FieldValues* values) const {
  return std::visit(
      [this](auto& elements) {
        ABSL_RETURN_IF_ERROR(CheckColumns());
        for (const std::string_view cell : cells_) {
          ABSL_RETURN_IF_ERROR(AppendCell(cell, elements));
        }
        return absl::OkStatus();
      },
      *values);
}

absl::StatusOr<std::int64_t> RowFile::Whole(std::size_t cell, std::int64_t min, std::int64_t max) const {
  if (cell >= cells_.size()) return Refusal("bad_row", absl::StrCat("the row has ", cells_.size(), " columns"));
  const std::optional<std::int64_t> number = ParseWhole(cells_[cell]);
  if (number && *number >= min && *number <= max) return *number;
  return NotANumber(cells_[cell], absl::StrCat("a whole number from ", min, " to ", max));
}

absl::Status RowFile::Locate(const absl::Status& refusal, std::uint64_t graph) const {
  return RefusedAt({path(), "graph", graph, std::max<std::uint64_t>(line(), 1)}, refusal);
}

std::string_view WithoutPacking(std::string_view name) {
  for (const std::string_view ending : {".gz", ".xz"}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

absl::StatusOr<std::string> FindOne(const InputFolder& folder, std::string_view file) {
  std::string found;
  for (const std::string& name : folder.names()) {
    const std::string_view unpacked = WithoutPacking(name);
    if (unpacked.substr(unpacked.rfind('/') + 1) != file) continue;
    if (!found.empty()) {
      return RefusedWhole(folder.path(), "several_data_sets",
                          absl::StrCat("there are several data sets, with ", found, " and ", name));
    }
    found = name;
  }
  return found;
}

absl::StatusOr<bool> HoldsWholeNumbers(InputFolder& folder, std::string_view name) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> bytes, folder.Open(name));
  std::vector<char> buffer(256 << 10);
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const std::size_t count, bytes->Read(buffer));
    if (count == 0) return true;
    const bool whole =
        std::all_of(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count), [](char c) {
          return (c >= '0' && c <= '9') || c == ',' || c == '-' || c == '+' || IsBlank(c) || c == '\n' ||
                 c == '\r';
        });
    if (!whole) return false;
  }
}

std::vector<std::string> ColumnNames(std::string_view name, std::size_t columns) {
  std::vector<std::string> names;
  for (std::size_t column = 0; column < columns; ++column) {
    names.push_back(columns == 1 ? std::string(name) : absl::StrCat(std::string(name), "_", column));
  }
  return names;
}

}  // namespace packtrain::ingest
