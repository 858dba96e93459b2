#include "client/ingest/formats/smiles_columns.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/formats/molecule_parser.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr char kSmiles[] = "smiles";

std::vector<std::string> NamesOfHeader(const std::vector<std::string>& row) {
  std::vector<std::string> names = row;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k].empty()) names[k] = absl::StrCat("column", k + 1);
  }
  return names;
}

absl::Status CheckDistinct(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return Refusal("column_twice", absl::StrCat("two columns '", name, "'"));
  }
  return absl::OkStatus();
}

std::optional<std::size_t> ColumnNamed(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

// Columns whose name is "smiles", else those whose name has this word in it, in any case.
std::vector<std::size_t> ColumnsOfSmiles(const std::vector<std::string>& row) {
  std::vector<std::size_t> whole, part;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const std::string name = absl::AsciiStrToLower(row[k]);
    if (name == kSmiles) whole.push_back(k);
    if (absl::StrContains(name, kSmiles)) part.push_back(k);
  }
  return whole.empty() ? part : whole;
}

absl::Status NoColumn(std::string_view flag, std::string_view name, const std::vector<std::string>& names) {
  return Refusal("no_column", absl::StrCat("no column '", std::string(name), "' (", std::string(flag),
                                           ") among ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<SmilesColumns> WithHeader(const std::vector<std::string>& row, std::size_t smiles,
                                         const AskedColumns& asked) {
  SmilesColumns columns = {true, NamesOfHeader(row), smiles, std::nullopt};
  ABSL_RETURN_IF_ERROR(CheckDistinct(columns.names));
  if (asked.id.empty()) return columns;
  columns.id = ColumnNamed(columns.names, asked.id);
  if (!columns.id) return NoColumn("--id", asked.id, columns.names);
  return columns;
}

absl::StatusOr<std::size_t> ColumnOfNumber(std::string_view flag, std::string_view number,
                                           std::size_t columns) {
  const std::optional<std::uint64_t> given = ParseCount(number);
  if (given && *given > 0 && *given <= columns) return static_cast<std::size_t>(*given - 1);
  return Refusal("no_column",
                 absl::StrCat("the table has ", columns, " columns without names; ", std::string(flag), " '",
                              std::string(number), "' is none of their numbers"));
}

absl::StatusOr<SmilesColumns> WithoutHeader(const std::vector<std::string>& row, const AskedColumns& asked) {
  SmilesColumns columns = {.names = NamesOfHeader(std::vector<std::string>(row.size()))};
  if (!asked.smiles.empty()) {
    ABSL_ASSIGN_OR_RETURN(columns.smiles, ColumnOfNumber("--smiles", asked.smiles, row.size()));
  } else if (!IsSmiles(std::string_view(row.front()).substr(0, row.front().find_first_of(" \t")))) {
    return Refusal("no_column",
                   absl::StrCat("the first row has neither a column named smiles nor a SMILES in front "
                                "(--smiles COLUMN names the column)"));
  }
  if (!asked.id.empty()) {
    ABSL_ASSIGN_OR_RETURN(columns.id, ColumnOfNumber("--id", asked.id, row.size()));
  }
  return columns;
}

}  // namespace

absl::StatusOr<SmilesColumns> FindColumns(const std::vector<std::string>& first_row,
                                          const AskedColumns& asked) {
  if (const std::optional<std::size_t> column = ColumnNamed(first_row, asked.smiles);
      column && !asked.smiles.empty()) {
    return WithHeader(first_row, *column, asked);
  }
  if (!asked.smiles.empty()) {
    if (!ParseCount(asked.smiles)) return NoColumn("--smiles", asked.smiles, first_row);
    return WithoutHeader(first_row, asked);
  }
  const std::vector<std::size_t> found = ColumnsOfSmiles(first_row);
  if (found.empty()) return WithoutHeader(first_row, asked);
  if (found.size() == 1) return WithHeader(first_row, found.front(), asked);
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const std::size_t column : found) names.push_back(first_row[column]);
  return Refusal("ambiguous_column", absl::StrCat("several columns of SMILES: ", absl::StrJoin(names, ", "),
                                                  " (--smiles COLUMN picks one)"));
}

}  // namespace packtrain::ingest
