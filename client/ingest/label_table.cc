#include "client/ingest/label_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/text.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kMaxLabels = 10'000;
constexpr std::array<std::string_view, 6> kMissingWords = {"", "-", "none", "n/a", "#n/a", "nan"};

bool IsMissingWord(std::string_view text) {
  return std::any_of(kMissingWords.begin(), kMissingWords.end(), [&](std::string_view word) {
    return absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()),
                                  absl::string_view(text.data(), text.size()));
  });
}

// The name as a message can carry it.
std::string AsUtf8(std::string name) {
  if (IsUtf8(name)) return name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) > 127; }, '?');
  return name;
}

}  // namespace

LabelText ReadLabelText(std::string_view text) {
  text = Trim(text);
  const std::optional<double> number = ParseDouble(text);
  if (number && !std::isnan(*number)) return {LabelText::Kind::kNumber, *number};
  return {number || IsMissingWord(text) ? LabelText::Kind::kMissing : LabelText::Kind::kText};
}

void LabelTable::Restart() {
  graphs_ = 0;
  for (CountedLabel& label : labels_) label.numbers = label.texts = 0;
}

std::span<const LabelTable::Reading> LabelTable::Read(const SourceGraph& graph, bool labels_are_cells) {
  ++reads_;
  readings_.clear();
  for (std::size_t k = 0; k < graph.labels.size(); ++k) {
    const std::optional<std::size_t> place = PlaceOf(graph.labels[k], k, labels_are_cells);
    if (!place || labels_[*place].last_graph == reads_) continue;
    labels_[*place].last_graph = reads_;
    const Label& label = graph.labels[k];
    readings_.push_back({.label = *place,
                         .text = label.per_node ? LabelText{LabelText::Kind::kText} : ReadLabelText(label.text),
                         .word = label.text});
  }
  return readings_;
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
                     .is_per_node = label.per_node,
                     .is_declared = label.is_target,
                     .is_utf8 = IsUtf8(label.name)});
  place_of_[labels_.back().name] = labels_.size() - 1;
  return labels_.size() - 1;
}

void LabelTable::Count() {
  ++graphs_;
  for (const Reading& reading : readings_) {
    CountedLabel& label = labels_[reading.label];
    label.numbers += reading.text.kind == LabelText::Kind::kNumber ? 1 : 0;
    label.texts += reading.text.kind == LabelText::Kind::kText ? 1 : 0;
  }
}

std::optional<std::size_t> LabelTable::Find(std::string_view name) const {
  const auto place = place_of_.find(absl::string_view(name.data(), name.size()));
  if (place == place_of_.end()) return std::nullopt;
  return place->second;
}

bool LabelTable::IsTarget(std::size_t label) const { return WhyNoTarget(labels_[label]).empty(); }

std::string_view LabelTable::WhyNoTarget(const CountedLabel& label) const {
  if (label.is_per_node) return kPerNode;
  if (!label.is_utf8) return "not_utf8";
  if (label.is_structural) return "structural";
  if (label.numbers + label.texts == 0) return label.is_declared ? "" : "empty";
  if (label.is_cell) return label.numbers > label.texts ? "" : "text";
  if (label.texts > 0) return "text";
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
    return a->numbers != b->numbers ? a->numbers > b->numbers : a->name < b->name;
  });
  for (const CountedLabel* key : keys) names.push_back(key->name);
  return names;
}

LabelUse LabelTable::UseOf(std::size_t label) const {
  const CountedLabel& counted = labels_[label];
  const std::string_view reason = WhyNoTarget(counted);
  return {.name = AsUtf8(counted.name),
          .found = counted.numbers + counted.texts,
          .graphs = graphs_,
          .used = reason.empty(),
          .reason = std::string(reason)};
}

}  // namespace packtrain::ingest
