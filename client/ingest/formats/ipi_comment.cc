#include "client/ingest/formats/ipi_comment.h"

#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Three lengths and three angles.
using CellNumbers = std::array<double, 6>;

constexpr std::string_view kCell = "CELL";
constexpr std::string_view kLengthsAndAngles = "CELL(abcABC):";
constexpr double kAngstromOfBohr = 0.529177210903;  // CODATA 2018

// The word of a comment that begins with CELL, and what follows it; empty: there is none.
std::string_view FindCell(std::string_view comment, std::string_view* behind) {
  std::string_view rest = comment;
  if (NextWord(&rest) != "#") return {};
  std::string_view word = NextWord(&rest);
  *behind = rest;
  return word.starts_with(kCell) ? word : std::string_view();
}

// Splits "positions{angstrom}"; false for any other word.
bool SplitQuantity(std::string_view word, std::string_view* name, std::string_view* unit) {
  const std::size_t open = word.find('{');
  if (open == std::string_view::npos || open == 0 || !word.ends_with('}')) return false;
  *name = word.substr(0, open);
  *unit = word.substr(open + 1, word.size() - open - 2);
  return true;
}

absl::StatusOr<double> AngstromOf(std::string_view word, std::string_view unit) {
  if (unit == "angstrom") return 1.0;
  if (unit == "atomic_unit") return kAngstromOfBohr;
  return Refusal("unknown_unit",
                 absl::StrCat("unknown unit in ", Shown(word), "; known are angstrom and atomic_unit"));
}

// Vectors of three lengths, in units of `scale` angstrom, and three angles in degrees.
absl::StatusOr<std::array<float, 9>> VectorsOf(const CellNumbers& cell, double scale) {
  constexpr double kDegree = std::numbers::pi / 180;
  // cos(90 degrees) is not 0 in binary.
  const auto cosine = [](double angle) { return angle == 90 ? 0.0 : std::cos(angle * kDegree); };
  const auto [a, b, c, alpha, beta, gamma] = cell;
  const double sine = std::sqrt(1 - cosine(gamma) * cosine(gamma));
  const double x = cosine(beta), y = (cosine(alpha) - cosine(beta) * cosine(gamma)) / sine;
  const double z2 = 1 - x * x - y * y;
  if (!(a > 0 && b > 0 && c > 0 && sine > 0 && z2 > 0)) {
    return Refusal("bad_cell", "lengths and angles behind CELL(abcABC): make no cell");
  }
  const std::array<double, 9> vectors = {a, 0,     0,     b * cosine(gamma), b * sine,
                                         0, c * x, c * y, c * std::sqrt(z2)};
  std::array<float, 9> scaled;
  for (std::size_t k = 0; k < scaled.size(); ++k) scaled[k] = static_cast<float>(vectors[k] * scale);
  return scaled;
}

absl::StatusOr<CellNumbers> ReadNumbers(std::string_view* rest) {
  CellNumbers numbers;
  for (double& number : numbers) {
    const std::optional<double> value = ParseDouble(NextWord(rest));
    if (!value || !std::isfinite(*value)) {
      return Refusal("bad_cell", "behind CELL(abcABC): there are not six finite numbers");
    }
    number = *value;
  }
  return numbers;
}

}  // namespace

bool IsIpiComment(std::string_view comment) {
  std::string_view behind;
  return !FindCell(comment, &behind).empty();
}

absl::StatusOr<IpiHead> ParseIpiComment(std::string_view comment) {
  std::string_view rest;
  const std::string_view form = FindCell(comment, &rest);
  if (form != kLengthsAndAngles) {
    return Refusal("bad_cell", absl::StrCat("the comment has ", Shown(form), "; only CELL(abcABC): is read"));
  }
  ABSL_ASSIGN_OR_RETURN(const CellNumbers numbers, ReadNumbers(&rest));
  IpiHead head;
  head.rest = rest;
  double angstrom_of_cell = kAngstromOfBohr;  // i-PI works in atomic units
  bool has_positions = false;
  std::string_view name, unit;
  for (std::string_view word = NextWord(&rest); !word.empty(); word = NextWord(&rest)) {
    if (!SplitQuantity(word, &name, &unit)) continue;
    if (name != "positions" && name != "cell") {
      return Refusal("not_positions", absl::StrCat("the rows hold ", Shown(word), ", no positions"));
    }
    ABSL_ASSIGN_OR_RETURN(const double angstrom, AngstromOf(word, unit));
    has_positions = has_positions || name == "positions";
    (name == "cell" ? angstrom_of_cell : head.angstrom_of_pos) = angstrom;
  }
  if (!has_positions) return Refusal("not_positions", "the comment does not say positions{UNIT}");
  ABSL_ASSIGN_OR_RETURN(head.cell.vectors, VectorsOf(numbers, angstrom_of_cell));
  return head;
}

}  // namespace packtrain::ingest
