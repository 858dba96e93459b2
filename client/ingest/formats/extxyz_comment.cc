#include "client/ingest/formats/extxyz_comment.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Largest number of columns a property may claim.
constexpr std::uint64_t kMaxColumns = 1'000'000;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

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

// Position of what closes the value that `text` begins with, escaped characters and nested brackets passed
// over.
std::size_t FindClosing(std::string_view text, char closing) {
  const char opening = text[0];
  std::size_t open = 1;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == closing) {
      if (--open == 0) return at;
    } else if (text[at] == opening) {
      ++open;
    }
  }
  return std::string_view::npos;
}

bool IsNumber(std::string_view word) { return ParseDouble(word).has_value(); }

// A word, without a comma behind it where it is a number.
std::string_view CutBareValue(std::string_view* rest) {
  const std::string_view word = NextWord(rest);
  if (!word.ends_with(',')) return word;
  const std::string_view number = word.substr(0, word.size() - 1);
  return IsNumber(number) ? number : word;
}

absl::StatusOr<std::string_view> CutValue(std::string_view* rest) {
  const char closing = rest->empty() ? '\0' : ClosingOf(rest->front());
  if (closing == 0) return CutBareValue(rest);
  const std::size_t end = FindClosing(*rest, closing);
  if (end == std::string_view::npos) {
    return Refusal("bad_comment",
                   absl::StrCat("a value in the comment line does not end with ", std::string(1, closing)));
  }
  const std::string_view value = rest->substr(1, end - 1);
  rest->remove_prefix(end + 1);
  return Trim(value);
}

std::string_view CutKey(std::string_view* rest) {
  std::size_t end = 0;
  while (end < rest->size() && !IsBlank((*rest)[end]) && (*rest)[end] != '=') ++end;
  const std::string_view key = rest->substr(0, end);
  rest->remove_prefix(end);
  return key;
}

// Cuts `key: number` off, `key` with its colon; false where `rest` does not go on with a number.
bool CutColonPair(std::string_view key, std::string_view* rest, KeyValue* pair) {
  if (key.size() < 2 || !key.ends_with(':')) return false;
  std::string_view behind = *rest;
  const std::string_view number = CutBareValue(&behind);
  if (!IsNumber(number)) return false;
  *pair = {key.substr(0, key.size() - 1), number, true};
  *rest = behind;
  return true;
}

// Cuts the next pair or word off, neither of which is empty.
absl::StatusOr<KeyValue> CutPair(std::string_view* rest, bool* spaced) {
  KeyValue pair;
  pair.key = CutKey(rest);
  const std::size_t before = rest->size();
  *rest = SkipBlanks(*rest);
  *spaced = rest->size() < before;
  if (!rest->starts_with('=')) {
    CutColonPair(pair.key, rest, &pair);
    return pair;
  }
  const std::string_view value = SkipBlanks(rest->substr(1));
  *spaced = *spaced || value.size() + 1 < rest->size();
  *rest = value;
  ABSL_ASSIGN_OR_RETURN(pair.value, CutValue(rest));
  pair.has_value = true;
  return pair;
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
  if (word == "1" || absl::EqualsIgnoreCase(View(word), "T") || absl::EqualsIgnoreCase(View(word), "true"))
    return 1;
  if (word == "0" || absl::EqualsIgnoreCase(View(word), "F") || absl::EqualsIgnoreCase(View(word), "false"))
    return 0;
  return std::nullopt;
}

// The next word of a list, in which commas and brackets stand for blanks.
std::string_view NextItem(std::string_view* rest) {
  constexpr std::string_view kBetween = " \t,[]{}";
  rest->remove_prefix(std::min(rest->find_first_not_of(kBetween), rest->size()));
  const std::string_view item = rest->substr(0, rest->find_first_of(kBetween));
  rest->remove_prefix(item.size());
  return item;
}

// One NAME:TYPE:COUNT, and where it stands.
struct Property {
  std::string_view name;
  std::string_view type;
  std::size_t column = 0;
  std::size_t count = 0;

  bool IsNamed(std::string_view other) const { return absl::EqualsIgnoreCase(View(name), View(other)); }
};

// Gathers what the properties say.
class PropertyReader {
 public:
  // Whether the property is one that is read.
  bool Take(const Property& property) {
    if (property.count == 3 && property.IsNamed("pos")) {
      position_ = property.column;
    } else if (property.count == 1 && property.IsNamed("species")) {
      species_ = property;
    } else if (property.count == 1 && (property.IsNamed("Z") || property.IsNamed("numbers"))) {
      number_ = property;
    } else {
      return false;
    }
    return true;
  }

  // `count` columns in all. A column of atomic numbers beside the species counts only where its values are
  // whole.
  absl::StatusOr<AtomColumns> Columns(std::string_view properties, std::size_t count) const {
    if (!species_ && !number_) return BadProperties(properties, "no species:S:1");
    if (!position_) return BadProperties(properties, "no pos:R:3");
    AtomColumns columns;
    columns.species = species_.value_or(number_.value_or(Property())).column;
    columns.position = *position_;
    columns.count = count;
    columns.numbers = !species_ || species_->type == "I";
    if (species_ && number_ && number_->type == "I") columns.number = number_->column;
    return columns;
  }

 private:
  std::optional<Property> species_, number_;
  std::optional<std::size_t> position_;
};

}  // namespace

absl::Status ParseComment(std::string_view comment, std::vector<KeyValue>* pairs) {
  pairs->clear();
  bool behind_word = false;
  for (std::string_view rest = SkipBlanks(comment); !rest.empty(); rest = SkipBlanks(rest)) {
    const std::string_view all = rest;
    bool spaced = false;
    ABSL_ASSIGN_OR_RETURN(KeyValue pair, CutPair(&rest, &spaced));
    const bool end_of_name = pair.has_value && spaced && behind_word && IsNumber(pair.value);
    if (end_of_name) pair = {all.substr(0, all.size() - rest.size()), {}, false};
    behind_word = !pair.has_value && !end_of_name;
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

std::optional<std::string_view> FindSetting(const std::vector<KeyValue>& pairs, std::string_view key) {
  for (const KeyValue& pair : pairs) {
    if (pair.has_value && absl::EqualsIgnoreCase(View(pair.key), View(key))) return pair.value;
  }
  return std::nullopt;
}

absl::StatusOr<Properties> ParseProperties(std::string_view properties) {
  Properties found;
  PropertyReader reader;
  std::size_t column = 0;
  for (std::string_view rest = properties; !rest.empty();) {
    const std::string_view name = CutField(&rest);
    const std::string_view type = CutField(&rest);
    const std::optional<std::uint64_t> count = ParseCount(CutField(&rest));
    if (type.size() != 1 || !count || *count == 0 || *count > kMaxColumns) {
      return BadProperties(properties, "expected NAME:TYPE:COUNT, again and again");
    }
    if (!reader.Take({name, type, column, *count})) {
      found.other_names.emplace_back(name.data() - properties.data(), name.size());
    }
    column += *count;
    if (column > kMaxColumns) return BadProperties(properties, "too many columns");
  }
  ABSL_ASSIGN_OR_RETURN(found.columns, reader.Columns(properties, column));
  return found;
}

absl::StatusOr<std::array<std::uint8_t, 3>> ParsePbc(std::string_view text) {
  std::array<std::uint8_t, 3> pbc;
  std::string_view rest = text;
  for (std::uint8_t& direction : pbc) {
    const std::optional<std::uint8_t> flag = ParseFlag(NextItem(&rest));
    if (!flag) return Refusal("bad_pbc", absl::StrCat("pbc=", Quoted(text), " is not three of T and F"));
    direction = *flag;
  }
  if (NextItem(&rest).empty()) return pbc;
  return Refusal("bad_pbc", absl::StrCat("pbc=", Quoted(text), " is more than three of T and F"));
}

absl::StatusOr<PeriodicCell> ParseCell(std::string_view lattice, std::optional<std::string_view> pbc) {
  PeriodicCell cell;
  std::string_view rest = lattice;
  for (float& component : cell.vectors) {
    const std::optional<float> value = ParseFloat(NextItem(&rest));
    if (!value || !std::isfinite(*value)) {
      return Refusal("bad_lattice", absl::StrCat("Lattice=", Quoted(lattice), " is not nine finite numbers"));
    }
    component = *value;
  }
  if (!NextItem(&rest).empty()) {
    return Refusal("bad_lattice", absl::StrCat("Lattice=", Quoted(lattice), " is more than nine numbers"));
  }
  if (pbc) {
    ABSL_ASSIGN_OR_RETURN(cell.pbc, ParsePbc(*pbc));
  }
  return cell;
}

}  // namespace packtrain::ingest
