#include "client/ingest/formats/extxyz_comment.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
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

bool IsPair(const KeyValue& pair) { return pair.has_value && !pair.is_ambiguous; }

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

// Whether `rest` goes on with a sign that makes a key of the word in front of it.
bool GoesOnAsPair(std::string_view rest) {
  rest = SkipBlanks(rest);
  return rest.starts_with('=') || (rest.starts_with(':') && (rest.size() == 1 || IsBlank(rest[1])));
}

// Splits a comment, word by word.
class CommentSplitter {
 public:
  CommentSplitter(std::string_view comment, std::vector<KeyValue>* pairs) : rest_(comment), pairs_(*pairs) {
    pairs_.clear();
  }

  absl::Status Split() {
    for (rest_ = SkipBlanks(rest_); !rest_.empty(); rest_ = SkipBlanks(rest_)) {
      const std::string_view key = CutKey(&rest_);
      if (SkipBlanks(rest_).starts_with('=')) {
        ABSL_RETURN_IF_ERROR(TakeEquals(key));
      } else if (!TakeColon(key) && !TakeWholeWord(key)) {
        AddWord(key);
      }
    }
    return absl::OkStatus();
  }

 private:
  // `rest_` goes on with the "=" behind the key.
  absl::Status TakeEquals(std::string_view key) {
    const std::size_t size = rest_.size();
    rest_ = SkipBlanks(rest_).substr(1);
    const bool blank_before = rest_.size() + 1 < size, blank_behind = SkipBlanks(rest_).size() < rest_.size();
    rest_ = SkipBlanks(rest_);
    ABSL_ASSIGN_OR_RETURN(const std::string_view value, CutValue(&rest_));
    if ((blank_before || blank_behind) && !word_before_.empty() && IsNumber(value)) {
      AddAmbiguous(WholeName(key), value);
    } else {
      AddPair(key, value);
    }
    return absl::OkStatus();
  }

  // "key:" or "key" in front of " :", and a word; false where that is not what stands there.
  bool TakeColon(std::string_view word) {
    std::string_view key = word, behind = rest_;
    if (word.ends_with(':')) {
      key.remove_suffix(1);
    } else if (GoesOnAsPair(behind)) {
      behind = SkipBlanks(behind).substr(1);
    } else {
      return false;
    }
    const std::string_view value = CutBareValue(&behind);
    const bool is_number = IsNumber(value);
    const bool is_key = value.ends_with(':') || value.find('=') != value.npos || GoesOnAsPair(behind);
    if (key.empty() || value.empty() || (is_key && !is_number)) return false;
    if (!is_number) pairs_.push_back({.key = word});
    if (is_number && word_before_.empty()) {
      AddPair(key, value);
    } else {
      AddAmbiguous(word_before_.empty() ? key : WholeName(key), value);
    }
    rest_ = behind;
    return true;
  }

  // "key:number"; false where the word is none.
  bool TakeWholeWord(std::string_view word) {
    const std::size_t colon = word.find(':');
    if (colon == word.npos || !absl::ascii_isalpha(static_cast<unsigned char>(word[0]))) return false;
    std::string_view value = word.substr(colon + 1);
    value = CutBareValue(&value);
    if (!IsNumber(value)) return false;
    pairs_.push_back({.key = word});
    AddAmbiguous(word.substr(0, colon), value);
    return true;
  }

  void AddWord(std::string_view word) {
    pairs_.push_back({.key = word});
    word_before_ = word;
  }
  void AddPair(std::string_view key, std::string_view value) {
    pairs_.push_back({.key = key, .value = value, .has_value = true});
    word_before_ = {};
  }
  void AddAmbiguous(std::string_view key, std::string_view value) {
    AddPair(key, value);
    pairs_.back().is_ambiguous = true;
  }

  // With the word in front of it, unless that may be the title.
  std::string_view WholeName(std::string_view key) const {
    if (word_before_.data() == pairs_.front().key.data()) return key;
    const char* const begin = word_before_.data();
    return {begin, static_cast<std::size_t>(key.data() + key.size() - begin)};
  }

  std::string_view rest_;
  std::vector<KeyValue>& pairs_;
  std::string_view word_before_;  // plain, right in front of `rest_`; empty: there is none
};

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
  return CommentSplitter(comment, pairs).Split();
}

std::optional<std::string_view> FindKey(const std::vector<KeyValue>& pairs, std::string_view key) {
  for (const KeyValue& pair : pairs) {
    if (IsPair(pair) && pair.key == key) return pair.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> FindSetting(const std::vector<KeyValue>& pairs, std::string_view key) {
  for (const KeyValue& pair : pairs) {
    if (IsPair(pair) && absl::EqualsIgnoreCase(View(pair.key), View(key))) return pair.value;
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
