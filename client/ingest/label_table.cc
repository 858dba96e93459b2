#include "client/ingest/label_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/text.h"
#include "server/records/schema.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kMaxLabels = 10'000;
// Of a name that is cut.
constexpr std::size_t kMaxShownBytes = 40;
constexpr std::array<std::string_view, 6> kMissingWords = {"", "-", "none", "n/a", "#n/a", "nan"};

bool IsMissingWord(std::string_view text) {
  return std::any_of(kMissingWords.begin(), kMissingWords.end(), [&](std::string_view word) {
    return absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()),
                                  absl::string_view(text.data(), text.size()));
  });
}

// 1 and 0 of a truth.
std::optional<double> ParseTruth(std::string_view text) {
  const absl::string_view word(text.data(), text.size());
  if (word == "T" || absl::EqualsIgnoreCase(word, "true")) return 1;
  if (word == "F" || absl::EqualsIgnoreCase(word, "false")) return 0;
  return std::nullopt;
}

// The text between brackets that belong together; nullopt: there are none around it.
std::optional<std::string_view> Unbracketed(std::string_view text) {
  constexpr std::string_view kPairs[] = {"[]", "{}", "()"};
  for (const std::string_view pair : kPairs) {
    if (text.size() >= 2 && text.front() == pair[0] && text.back() == pair[1]) {
      return text.substr(1, text.size() - 2);
    }
  }
  return std::nullopt;
}

// Whether the text is several numbers or truths between blanks, or any number of them in brackets, where commas
// may stand between them, too.
bool IsArray(std::string_view text) {
  const bool in_brackets = Unbracketed(text).has_value();
  const std::string_view between = in_brackets ? " \t\r\n,[]{}()" : " \t";
  std::size_t values = 0;
  for (std::size_t at = text.find_first_not_of(between); at != text.npos; ++values) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!ParseDouble(word) && !ParseTruth(word)) return false;
    at = text.find_first_not_of(between, end);
  }
  return in_brackets || values > 1;
}

}  // namespace

LabelText ReadLabelText(std::string_view text) {
  text = Trim(text);
  const std::optional<double> number = ParseDouble(text);
  if (number && !std::isnan(*number)) return {LabelText::Kind::kNumber, *number};
  if (number || IsMissingWord(text)) return {LabelText::Kind::kMissing};
  if (const std::optional<double> truth = ParseTruth(text)) return {LabelText::Kind::kNumber, *truth};
  return {IsArray(text) ? LabelText::Kind::kArray : LabelText::Kind::kText};
}

std::string_view WhyNoTargetName(std::string_view name) {
  if (name.empty()) return "no_name";
  if (name.size() > records::kMaxTextBytes) return "long_name";
  return IsUtf8(name) ? "" : "not_utf8";
}

std::string ShownName(std::string_view name) {
  if (name.size() <= records::kMaxTextBytes) return AsUtf8(std::string(name));
  std::size_t end = kMaxShownBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // within a character
  return AsUtf8(absl::StrCat(std::string(name.substr(0, end)), "..."));
}

namespace {

LabelText ReadLabel(const Label& label, const SourceGraph& graph) {
  switch (label.form) {
    case LabelForm::kPerNode:
      return {LabelText::Kind::kPerNode};
    case LabelForm::kObject:
      return {LabelText::Kind::kObject};
    case LabelForm::kArray: {
      const bool fits = label.rows == graph.n_node || label.rows == graph.senders.size();
      return {fits ? LabelText::Kind::kPerNode : LabelText::Kind::kArray};
    }
    case LabelForm::kWord:
      break;
  }
  return ReadLabelText(label.text);
}

}  // namespace

void LabelTable::Restart() {
  graphs_ = 0;
  for (CountedLabel& label : labels_) {
    label.numbers = label.texts = label.objects = label.arrays = label.severals = label.per_nodes = 0;
    label.first_no_number.clear();
  }
}

std::span<const LabelTable::Reading> LabelTable::Read(const SourceGraph& graph, bool labels_are_cells) {
  ++reads_;
  readings_.clear();
  for (std::size_t k = 0; k < graph.labels.size(); ++k) {
    const Label& label = graph.labels[k];
    const std::optional<std::size_t> place = PlaceOf(label, k, labels_are_cells);
    if (!place) continue;
    CountedLabel& counted = labels_[*place];
    const LabelText text = ReadLabel(label, graph);
    counted.is_declared |= label.is_target;
    if (std::exchange(counted.last_graph, reads_) == reads_) {
      AddRepeated(label, text, &readings_[counted.last_reading]);
      continue;
    }
    counted.last_reading = readings_.size();
    counted.is_ambiguous |= label.ambiguous && text.kind == LabelText::Kind::kNumber;
    readings_.push_back({.label = *place,
                         .text = text,
                         .word = label.text,
                         .other = {},
                         .file = label.file,
                         .line = label.line});
  }
  return readings_;
}

void LabelTable::AddRepeated(const Label& label, LabelText text, Reading* reading) {
  using Kind = LabelText::Kind;
  const LabelText& first = reading->text;
  if (first.kind == Kind::kSeveral || first.kind == Kind::kPerNode || text.kind == Kind::kPerNode) return;
  const bool is_same =
      first.kind == text.kind &&
      (text.kind == Kind::kNumber ? first.number == text.number
                                  : text.kind == Kind::kMissing || Trim(reading->word) == Trim(label.text));
  if (is_same) return;
  reading->text = {LabelText::Kind::kSeveral};
  reading->other = label.text;
}

std::optional<std::size_t> LabelTable::PlaceOf(const Label& label, std::size_t k, bool is_cell) {
  if (k < last_places_.size() && labels_[last_places_[k]].name == label.name) return last_places_[k];
  std::optional<std::size_t> place = Find(label.name);
  if (!place) place = Add(label, is_cell);
  if (!place) return std::nullopt;
  if (k >= last_places_.size()) last_places_.resize(k + 1, *place);
  last_places_[k] = *place;
  return place;
}

std::optional<std::size_t> LabelTable::Add(const Label& label, bool is_cell) {
  if (labels_.size() == kMaxLabels) return std::nullopt;
  labels_.push_back({.name = std::string(label.name),
                     .is_cell = is_cell,
                     .is_structural = label.structural,
                     .is_descriptive = label.descriptive,
                     .why_no_name = WhyNoTargetName(label.name)});
  place_of_[labels_.back().name] = labels_.size() - 1;
  return labels_.size() - 1;
}

void LabelTable::Count(PlaceOfReading place) {
  ++graphs_;
  for (const Reading& reading : readings_) {
    CountedLabel& label = labels_[reading.label];
    std::uint64_t* const counter = CounterOf(reading.text.kind, &label);
    if (counter == nullptr) continue;
    ++*counter;
    if (counter == &label.numbers || !label.first_no_number.empty()) continue;
    label.first_no_number = place(reading);
    if (reading.text.kind == LabelText::Kind::kSeveral) {
      absl::StrAppend(&label.first_no_number, ": ", Shown(reading.word), " and ", Shown(reading.other));
    } else if (!reading.word.empty()) {
      absl::StrAppend(&label.first_no_number, ": ", Shown(reading.word));
    }
  }
}

// Null of what is missing.
std::uint64_t* LabelTable::CounterOf(LabelText::Kind kind, CountedLabel* label) {
  switch (kind) {
    case LabelText::Kind::kNumber:
      return &label->numbers;
    case LabelText::Kind::kText:
      return &label->texts;
    case LabelText::Kind::kArray:
      return &label->arrays;
    case LabelText::Kind::kObject:
      return &label->objects;
    case LabelText::Kind::kSeveral:
      return &label->severals;
    case LabelText::Kind::kPerNode:
      return &label->per_nodes;
    case LabelText::Kind::kMissing:
      break;
  }
  return nullptr;
}

std::optional<std::size_t> LabelTable::Find(std::string_view name) const {
  const auto place = place_of_.find(absl::string_view(name.data(), name.size()));
  if (place == place_of_.end()) return std::nullopt;
  return place->second;
}

bool LabelTable::IsTarget(std::size_t label) const { return WhyNoTarget(labels_[label]).empty(); }

std::string_view LabelTable::WhyNoTarget(const CountedLabel& label) const {
  if (!label.why_no_name.empty()) return label.why_no_name;
  if (label.is_structural) return "structural";
  if (label.is_declared) return "";
  const std::uint64_t no_numbers = label.no_numbers();
  if (label.numbers + no_numbers == 0) return "empty";
  const bool is_number = label.is_cell ? label.numbers > no_numbers : no_numbers == 0;
  if (!is_number) {
    if (label.texts > 0) return kText;
    if (label.objects > 0) return kObject;
    if (label.arrays > 0) return kArray;
    return label.severals > 0 ? kSeveral : kPerNode;
  }
  if (label.is_descriptive) return "descriptive";
  if (label.is_ambiguous) return "ambiguous";
  if (label.is_cell) return "";
  return allow_missing_ || label.numbers == graphs_ ? "" : "missing_in_some";
}

std::vector<std::string> LabelTable::Targets() const {
  std::vector<const CountedLabel*> keys;
  std::vector<std::string> names;
  for (const CountedLabel& label : labels_) {
    if (!WhyNoTarget(label).empty()) continue;
    if (label.is_cell) {
      names.push_back(label.name);
    } else {
      keys.push_back(&label);
    }
  }
  std::sort(keys.begin(), keys.end(), [](const CountedLabel* a, const CountedLabel* b) {
    return a->numbers != b->numbers ? a->numbers > b->numbers : NaturalLess(a->name, b->name);
  });
  for (const CountedLabel* key : keys) names.push_back(key->name);
  return names;
}

LabelUse LabelTable::UseOf(std::size_t label, const KeptLabels::Count& kept, std::uint64_t graphs) const {
  const CountedLabel& counted = labels_[label];
  const std::string_view reason = WhyNoTarget(counted);
  return {.name = ShownName(counted.name),
          .found = kept.found,
          .graphs = graphs,
          .used = reason.empty(),
          .reason = std::string(reason),
          .no_numbers = kept.found - kept.numbers,
          .first_no_number = AsUtf8(counted.first_no_number)};
}

}  // namespace packtrain::ingest
