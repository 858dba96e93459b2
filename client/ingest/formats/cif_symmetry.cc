#include "client/ingest/formats/cif_symmetry.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::string_view kNameTags[] = {"_space_group_name_H-M_alt", "_symmetry_space_group_name_H-M",
                                          "_space_group.name_H-M_alt", "_symmetry.space_group_name_H-M"};
constexpr std::string_view kNumberTags[] = {"_space_group_IT_number", "_symmetry_Int_Tables_number",
                                            "_space_group.IT_number", "_symmetry.Int_Tables_number"};
constexpr int kSpaceGroups = 230;

absl::Status BadOperation(std::string_view text) {
  return Refusal("bad_symmetry",
                 absl::StrCat(Shown(text), " is no symmetry operation such as '-x, y+1/2, -z'"));
}

// Cuts a number, perhaps a fraction, off the front of `text`; 1 where none stands there.
std::optional<double> CutNumber(std::string_view* text) {
  const std::size_t end = std::min(text->find_first_not_of("0123456789./"), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end);
  if (word.empty()) return 1;
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos) return ParseDouble(word);
  const std::optional<double> above = ParseDouble(word.substr(0, slash));
  const std::optional<double> below = ParseDouble(word.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

// Adds one term of a sum, such as "+1/2", "-x" or "2*y", and cuts it off the front of `text`.
bool AddTerm(std::string_view* text, bool is_first, Vector* row, double* translation) {
  double sign = 1;
  if (text->front() == '+' || text->front() == '-') {
    sign = text->front() == '-' ? -1 : 1;
    text->remove_prefix(1);
  } else if (!is_first) {
    return false;
  }
  if (text->empty()) return false;
  const bool has_number = text->find_first_of("0123456789.") == 0;
  const std::optional<double> number = CutNumber(text);
  if (!number || !std::isfinite(*number)) return false;
  if (has_number && text->starts_with('*')) text->remove_prefix(1);
  const std::size_t axis = text->empty() ? std::string_view::npos : std::string_view("xyz").find(text->front());
  if (axis != std::string_view::npos) {
    (*row)[axis] += sign * *number;
    text->remove_prefix(1);
    return true;
  }
  *translation += sign * *number;
  return has_number;
}

// Lower case, without blanks.
std::string Compact(std::string_view text) {
  std::string compact;
  for (const char c : text) {
    if (!IsBlank(c) && c != '\n' && c != '\r') {
      compact.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c);
    }
  }
  return compact;
}

double Determinant(const SymmetryOperation& operation) { return VolumeOf(operation.rotation); }

// A word that the block has under one of `tags`; `found` becomes that tag.
std::string FindAny(const CifBlock& block, std::span<const std::string_view> tags, std::string_view* found) {
  for (const std::string_view tag : tags) {
    std::string word = block.Find(tag);
    if (word.empty()) continue;
    *found = tag;
    return word;
  }
  return "";
}

// The shortest way between two places, counting images.
double DistanceOf(const Vector& a, const Vector& b, const std::array<Vector, 3>& vectors) {
  Vector way = {};
  for (std::size_t k = 0; k < 3; ++k) {
    const double apart = a[k] - b[k];
    const double along = apart - std::round(apart);
    for (std::size_t j = 0; j < 3; ++j) way[j] += along * vectors[k][j];
  }
  return std::hypot(way[0], way[1], way[2]);
}

}  // namespace

absl::StatusOr<SymmetryOperation> ParseOperation(std::string_view text) {
  SymmetryOperation operation;
  const std::string compact = Compact(text);
  std::string_view rest = compact;
  for (std::size_t row = 0; row < 3; ++row) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view sum = rest.substr(0, comma);
    if (sum.empty() || (comma == rest.size()) != (row == 2)) return BadOperation(text);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    for (bool is_first = true; !sum.empty(); is_first = false) {
      if (!AddTerm(&sum, is_first, &operation.rotation[row], &operation.translation[row])) {
        return BadOperation(text);
      }
    }
  }
  // Volumes stay as they are.
  if (std::abs(std::abs(Determinant(operation)) - 1) > 1e-6) return BadOperation(text);
  return operation;
}

absl::StatusOr<std::vector<SymmetryOperation>> OperationsOfBlock(const CifBlock& block, double alpha,
                                                                 double gamma, CifPlace* wrong) {
  if (block.operations.size() > kMaxOperations) {
    *wrong = {block.operations[kMaxOperations].tag, block.operations[kMaxOperations].row};
    return Refusal("bad_symmetry", absl::StrCat("the block lists ", block.operations.size(),
                                                " symmetry operations, the limit is ", kMaxOperations));
  }
  std::vector<SymmetryOperation> operations;
  for (const CifBlock::Operation& listed : block.operations) {
    *wrong = {listed.tag, listed.row};
    ABSL_ASSIGN_OR_RETURN(const SymmetryOperation operation, ParseOperation(listed.text));
    operations.push_back(operation);
  }
  if (!operations.empty()) return operations;
  *wrong = {};
  const std::string number = FindAny(block, kNumberTags, &wrong->tag);
  const std::string name = FindAny(block, kNameTags, &wrong->tag);
  if (!name.empty()) operations = OperationsOfName(name, alpha, gamma);
  const std::optional<std::uint64_t> group = ParseCount(number);
  if (operations.empty() && group && *group >= 1 && *group <= kSpaceGroups) {
    operations = OperationsOfNumber(static_cast<int>(*group));
  }
  if (!operations.empty()) return operations;
  if (name.empty() && number.empty()) {
    return Refusal("no_symmetry",
                   "the block has no symmetry operations and names no space group, so that its "
                   "atoms may be a part of the cell only");
  }
  return Refusal("bad_symmetry", absl::StrCat("the space group '", name.empty() ? number : name,
                                              "' is unknown, and no symmetry operations are listed"));
}

std::vector<Vector> ImagesOf(const Vector& site, std::span<const SymmetryOperation> operations,
                             const std::array<Vector, 3>& vectors) {
  std::vector<Vector> images;
  for (const SymmetryOperation& operation : operations) {
    Vector image = operation.translation;
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t k = 0; k < 3; ++k) image[row] += operation.rotation[row][k] * site[k];
    }
    const bool is_new = std::ranges::none_of(
        images, [&](const Vector& other) { return DistanceOf(image, other, vectors) < kSameAtom; });
    if (is_new) images.push_back(image);
  }
  return images;
}

}  // namespace packtrain::ingest
