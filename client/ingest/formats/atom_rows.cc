#include "client/ingest/formats/atom_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/ingest/elements.h"
#include "client/ingest/formats/xyz_frames.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Bytes of the shortest row.
constexpr std::size_t kMinRowBytes = std::string_view("H 0 0 0\n").size();

bool BeginsWithDigit(std::string_view word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

absl::Status ExplainCoordinate(std::string_view word) {
  const std::optional<float> value = ParseFloat(word);
  if (!value) return Refusal("not_a_number", absl::StrCat("coordinate ", Shown(word), " is not a number"));
  if (std::isfinite(*value)) return absl::OkStatus();
  return Refusal("not_finite", absl::StrCat("coordinate ", Shown(word), " is not finite"));
}

}  // namespace

absl::Status CheckAtomCount(std::uint64_t count, std::uint64_t max_atoms) {
  if (count == 0) return Refusal("no_nodes", "the frame has no atoms");
  if (count <= max_atoms) return absl::OkStatus();
  return Refusal("too_many_atoms",
                 absl::StrCat("the frame has ", count, " atoms, the limit is ", max_atoms, " (--max-atoms)"));
}

absl::Status AtomRows::Read(std::uint64_t count, std::vector<std::uint8_t>* z, std::vector<float>* pos) {
  const std::size_t rows = std::min<std::size_t>(count, rest_.size() / kMinRowBytes);
  z->reserve(z->size() + rows);
  pos->reserve(pos->size() + 3 * rows);
  for (std::uint64_t atom = 0; atom < count; ++atom) {
    if (rest_.empty()) {
      return Refusal("truncated_frame", absl::StrCat("the file ends after ", atom, " of ", count, " atoms"));
    }
    ++line_;
    ABSL_RETURN_IF_ERROR(ReadRow(NextLine(&rest_), z, pos));
  }
  return absl::OkStatus();
}

std::uint8_t AtomRows::NumberOf(std::string_view word) const {
  return columns_.numbers || !BeginsWithDigit(word) ? AtomicNumber(word) : std::uint8_t{0};
}

absl::Status AtomRows::ReadRow(std::string_view row, std::vector<std::uint8_t>* z,
                               std::vector<float>* pos) const {
  std::string_view rest = row;
  std::array<float, 3> position;
  std::uint8_t species = 0;
  std::optional<std::uint8_t> number;
  for (std::size_t column = 0; column < columns_.count; ++column) {
    if (column - columns_.position < position.size()) {
      const std::optional<float> value = NextFloat(&rest);
      if (!value || !std::isfinite(*value)) return ExplainRow(row);
      position[column - columns_.position] = *value;
      continue;
    }
    const std::string_view word = NextWord(&rest);
    if (column == columns_.species) {
      species = NumberOf(word);
    } else if (word.empty()) {
      return ExplainRow(row);
    } else if (column == columns_.number) {
      number = AtomicNumber(word);
    }
  }
  if (species == 0 || number.value_or(species) != species) return ExplainRow(row);
  z->push_back(species);
  pos->insert(pos->end(), position.begin(), position.end());
  return absl::OkStatus();
}

absl::Status AtomRows::ExplainSpecies(std::string_view word) const {
  if (NumberOf(word) > 0) return absl::OkStatus();
  const bool flag_helps = AtomicNumber(word) > 0;
  return Refusal("unknown_symbol",
                 absl::StrCat("unknown element ", Shown(word),
                              flag_helps ? " (--species-are-numbers takes numbers as atomic numbers)" : ""));
}

absl::Status AtomRows::ExplainRow(std::string_view row) const {
  if (FrameCount(row) || (columns_.frequencies && IsFrequencies(row))) {
    return Refusal("count_too_high", absl::StrCat("expected an atom, found ", Shown(row),
                                                  "; is the frame's number of atoms too high?"));
  }
  std::string_view rest = row, species, number;
  for (std::size_t column = 0; column < columns_.count; ++column) {
    const std::string_view word = NextWord(&rest);
    if (word.empty()) {
      return Refusal("short_row", absl::StrCat("the row ", Shown(row), " has ", column, " columns, ",
                                               columns_.count, " are needed"));
    }
    if (column == columns_.number) number = word;
    if (column == columns_.species) {
      species = word;
      ABSL_RETURN_IF_ERROR(ExplainSpecies(word));
    } else if (column - columns_.position < 3) {
      ABSL_RETURN_IF_ERROR(ExplainCoordinate(word));
    }
  }
  return Refusal("contradiction", absl::StrCat("the row ", Shown(row), " has element ", Shown(species),
                                               " and atomic number ", Shown(number)));
}

}  // namespace packtrain::ingest
