#include "client/ingest/formats/poscar_head.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/ingest/elements.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Lines: comment, scale, three vectors, perhaps symbols, counts, perhaps "Selective dynamics", mode.
constexpr std::size_t kScaleLine = 1, kVectorLine = 2, kSymbolsOrCountsLine = 5;

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word; !(word = NextWord(&line)).empty();) {
    if (word[0] == '!' || word[0] == '#') break;
    words.push_back(word);
  }
  return words;
}

// All words of the line, which is one of counts; nullopt where it is another one.
std::optional<std::vector<std::uint64_t>> CountsOf(std::string_view line) {
  std::vector<std::uint64_t> counts;
  for (const std::string_view word : WordsOf(line)) {
    const std::optional<std::uint64_t> count = ParseCount(word);
    if (!count || *count > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    counts.push_back(*count);
  }
  if (counts.empty()) return std::nullopt;
  return counts;
}

// "Fe", "Fe_pv" and "Fe/5e0f1" are iron: behind the symbol stands which potential was used.
std::uint8_t NumberOfPotential(std::string_view word) {
  return AtomicNumber(word.substr(0, word.find_first_of("_/.")));
}

// The atomic numbers of the words of a line; empty where one is no symbol.
std::vector<std::uint8_t> SymbolsOf(std::string_view line) {
  std::vector<std::uint8_t> numbers;
  for (const std::string_view word : WordsOf(line)) {
    if (ParseCount(word)) return {};
    numbers.push_back(NumberOfPotential(word));
    if (numbers.back() == 0) return {};
  }
  return numbers;
}

// Factors of the three directions. One number below 0 is the volume of the cell.
absl::StatusOr<Vector> ScaleOf(std::string_view line, const std::array<Vector, 3>& vectors) {
  std::string_view rest;
  if (const std::optional<Vector> scale = ThreeNumbers(line, &rest)) {
    if (std::ranges::all_of(*scale, [](double factor) { return factor > 0; })) return *scale;
    return Refusal("bad_scale", absl::StrCat("the three scales ", Shown(line), " must be above 0"));
  }
  rest = line;
  const std::optional<double> scale = ParseDouble(NextWord(&rest));
  if (!scale || !std::isfinite(*scale) || *scale == 0) {
    return Refusal("bad_scale", absl::StrCat("the scale is no number other than 0, but ", Shown(line)));
  }
  if (*scale > 0) return Vector{*scale, *scale, *scale};
  const double volume = std::abs(VolumeOf(vectors));
  if (volume == 0) return Refusal("bad_cell", "the cell has no volume");
  const double factor = std::cbrt(-*scale / volume);
  return Vector{factor, factor, factor};
}

absl::Status ReadVectors(std::span<const std::string_view> lines, PoscarHead* head, std::size_t* line) {
  for (std::size_t k = 0; k < 3; ++k) {
    *line = kVectorLine + k;
    std::string_view rest;
    const std::optional<Vector> vector = ThreeNumbers(lines[kVectorLine + k], &rest);
    if (!vector) {
      return Refusal("bad_cell", absl::StrCat("a vector of the cell is no three numbers, but ",
                                              Shown(lines[kVectorLine + k])));
    }
    head->vectors[k] = *vector;
  }
  *line = kScaleLine;
  ABSL_ASSIGN_OR_RETURN(head->scale, ScaleOf(lines[kScaleLine], head->vectors));
  for (Vector& vector : head->vectors) {
    for (std::size_t k = 0; k < 3; ++k) vector[k] *= head->scale[k];
  }
  return absl::OkStatus();
}

// Reads the lines of symbols and of counts, of which the second ends at head->lines.
absl::Status ReadKinds(std::span<const std::string_view> lines, PoscarHead* head, std::size_t* line) {
  std::size_t& at = *line;
  at = kSymbolsOrCountsLine;
  std::optional<std::vector<std::uint64_t>> counts = CountsOf(lines[at]);
  const bool names_elements = !counts;
  if (names_elements) {
    head->species = SymbolsOf(lines[at]);
    if (head->species.empty()) {
      return Refusal("unknown_symbol",
                     absl::StrCat("expected element symbols or numbers of atoms, found ", Shown(lines[at])));
    }
    if (++at >= lines.size()) return Refusal("truncated_file", "the head ends before the numbers of atoms");
    counts = CountsOf(lines[at]);
  } else {
    head->species = SymbolsOf(lines[0]);
    if (head->species.size() != counts->size()) head->species.clear();
  }
  if (!counts || (names_elements && counts->size() != head->species.size())) {
    return Refusal("bad_count",
                   absl::StrCat("expected a number of atoms for each element, found ", Shown(lines[at])));
  }
  head->counts = *std::move(counts);
  head->lines = at + 1;
  return absl::OkStatus();
}

char FirstLetter(std::string_view line) {
  const std::string_view word = Trim(line);
  if (word.empty()) return '\0';
  return static_cast<char>(word[0] | 0x20);
}

absl::Status ReadMode(std::span<const std::string_view> lines, PoscarHead* head, std::size_t* line) {
  head->is_selective = head->lines < lines.size() && FirstLetter(lines[head->lines]) == 's';
  if (head->is_selective) ++head->lines;
  *line = head->lines;
  if (head->lines >= lines.size()) {
    return Refusal("truncated_file", "the head ends before the line that says Direct or Cartesian");
  }
  const char mode = FirstLetter(lines[head->lines]);
  if (mode < 'a' || mode > 'z') {
    return Refusal("bad_mode", absl::StrCat("expected Direct or Cartesian, found ", Shown(lines[head->lines])));
  }
  head->is_cartesian = mode == 'c' || mode == 'k';
  ++head->lines;
  return absl::OkStatus();
}

}  // namespace

std::optional<Vector> ThreeNumbers(std::string_view line, std::string_view* rest) {
  Vector numbers;
  for (double& number : numbers) {
    const std::optional<double> value = ParseDouble(NextWord(&line));
    if (!value) return std::nullopt;
    number = *value;
  }
  *rest = line;
  return numbers;
}

std::uint64_t PoscarHead::atoms() const {
  std::uint64_t atoms = 0;
  for (const std::uint64_t count : counts) atoms += count;
  return atoms;
}

absl::StatusOr<PoscarHead> ParsePoscarHead(std::span<const std::string_view> lines, std::size_t* line) {
  PoscarHead head;
  *line = lines.size();
  if (lines.size() <= kSymbolsOrCountsLine) {
    return Refusal("truncated_file", absl::StrCat("the head ends after ", lines.size(), " lines"));
  }
  ABSL_RETURN_IF_ERROR(ReadVectors(lines, &head, line));
  ABSL_RETURN_IF_ERROR(ReadKinds(lines, &head, line));
  ABSL_RETURN_IF_ERROR(ReadMode(lines, &head, line));
  return head;
}

std::optional<std::uint64_t> AtomsOfHead(std::span<const std::string_view> lines) {
  std::size_t line = 0;
  const absl::StatusOr<PoscarHead> head = ParsePoscarHead(lines, &line);
  if (!head.ok()) return std::nullopt;
  return head->atoms();
}

bool ResemblesHead(std::span<const std::string_view> lines) {
  const std::size_t end = std::min(lines.size(), kSymbolsOrCountsLine);
  std::size_t right = 0;
  for (std::size_t line = kScaleLine; line < end; ++line) {
    std::string_view rest = lines[line];
    const bool is_right = line < kVectorLine ? ParseDouble(NextWord(&rest)).has_value()
                                             : ThreeNumbers(lines[line], &rest).has_value();
    right += is_right ? 1 : 0;
  }
  return right > 0 && 2 * right >= end - kScaleLine;
}

}  // namespace packtrain::ingest
