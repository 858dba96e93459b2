#include "client/ingest/formats/extxyz_comment.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Largest number of columns a property may claim.
constexpr std::uint64_t kMaxColumns = 1'000'000;

std::string Quoted(std::string_view text) {
  return absl::StrCat("'", absl::string_view(text.data(), text.size()), "'");
}

std::string_view SkipBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  return text;
}

// The character that ends a value which `first` opens; 0 where it opens none.
char ClosingOf(char first) {
  switch (first) {
    case '"':
    case '\'':
      return first;
    case '{':
      return '}';
    case '[':
      return ']';
    default:
      return 0;
  }
}

// Position of `closing` in `text`, from 1 on, escaped ones passed over.
std::size_t FindClosing(std::string_view text, char closing) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == closing) {
      return at;
    }
  }
  return std::string_view::npos;
}

absl::StatusOr<std::string_view> CutValue(std::string_view* rest) {
  *rest = SkipBlanks(*rest);
  const char closing = rest->empty() ? '\0' : ClosingOf(rest->front());
  if (closing == 0) return NextWord(rest);
  const std::size_t end = FindClosing(*rest, closing);
  if (end == std::string_view::npos) {
    return Refusal("bad_comment",
                   absl::StrCat("a value in the comment line does not end with ", std::string(1, closing)));
  }
  const std::string_view value = rest->substr(1, end - 1);
  rest->remove_prefix(end + 1);
  return value;
}

std::string_view CutKey(std::string_view* rest) {
  std::size_t end = 0;
  while (end < rest->size() && !IsBlank((*rest)[end]) && (*rest)[end] != '=') ++end;
  const std::string_view key = rest->substr(0, end);
  rest->remove_prefix(end);
  return key;
}

std::string_view CutField(std::string_view* rest) {
  const std::size_t end = std::min(rest->find(':'), rest->size());
  const std::string_view field = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return field;
}

absl::Status BadProperties(std::string_view properties, const char* what) {
  return Refusal(
      "bad_properties",
      absl::StrCat("Properties=", absl::string_view(properties.data(), properties.size()), ": ", what));
}

std::optional<std::uint8_t> ParseFlag(std::string_view word) {
  if (word == "T" || word == "True" || word == "true" || word == "1") return 1;
  if (word == "F" || word == "False" || word == "false" || word == "0") return 0;
  return std::nullopt;
}

absl::Status ParsePbc(std::string_view text, std::array<std::uint8_t, 3>* pbc) {
  std::string_view rest = text;
  for (std::uint8_t& direction : *pbc) {
    const std::optional<std::uint8_t> flag = ParseFlag(NextWord(&rest));
    if (!flag) return Refusal("bad_pbc", absl::StrCat("pbc=", Quoted(text), " is not three of T and F"));
    direction = *flag;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseComment(std::string_view comment, std::vector<KeyValue>* pairs) {
  pairs->clear();
  std::string_view rest = SkipBlanks(comment);
  while (!rest.empty()) {
    KeyValue pair;
    pair.key = CutKey(&rest);
    rest = SkipBlanks(rest);
    if (rest.starts_with('=')) {
      rest.remove_prefix(1);
      ABSL_ASSIGN_OR_RETURN(std::string_view value, CutValue(&rest));
      pair.value = value;
      pair.has_value = true;
      rest = SkipBlanks(rest);
    }
    pairs->push_back(pair);
  }
  return absl::OkStatus();
}

std::optional<std::string_view> FindKey(const std::vector<KeyValue>& pairs, std::string_view key) {
  for (const KeyValue& pair : pairs) {
    if (pair.has_value && pair.key == key) return pair.value;
  }
  return std::nullopt;
}

absl::StatusOr<AtomColumns> ParseProperties(std::string_view properties) {
  std::optional<std::size_t> species;
  std::optional<std::size_t> position;
  std::size_t column = 0;
  for (std::string_view rest = properties; !rest.empty();) {
    const std::string_view name = CutField(&rest);
    const std::string_view type = CutField(&rest);
    const std::optional<std::uint64_t> count = ParseCount(CutField(&rest));
    if (type.size() != 1 || !count || *count == 0 || *count > kMaxColumns) {
      return BadProperties(properties, "expected NAME:TYPE:COUNT, again and again");
    }
    if (*count == 1 && (name == "species" || (name == "Z" && !species))) species = column;
    if (*count == 3 && name == "pos") position = column;
    column += *count;
    if (column > kMaxColumns) return BadProperties(properties, "too many columns");
  }
  if (!species) return BadProperties(properties, "no species:S:1");
  if (!position) return BadProperties(properties, "no pos:R:3");
  return AtomColumns{*species, *position, column};
}

absl::StatusOr<PeriodicCell> ParseCell(std::string_view lattice, std::optional<std::string_view> pbc) {
  PeriodicCell cell;
  std::string_view rest = lattice;
  for (float& component : cell.vectors) {
    const std::optional<float> value = ParseFloat(NextWord(&rest));
    if (!value || !std::isfinite(*value)) {
      return Refusal("bad_lattice", absl::StrCat("Lattice=", Quoted(lattice), " is not nine finite numbers"));
    }
    component = *value;
  }
  if (!NextWord(&rest).empty()) {
    return Refusal("bad_lattice", absl::StrCat("Lattice=", Quoted(lattice), " is more than nine numbers"));
  }
  if (pbc) {
    ABSL_RETURN_IF_ERROR(ParsePbc(*pbc, &cell.pbc));
  }
  return cell;
}

}  // namespace packtrain::ingest
