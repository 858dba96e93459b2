#include "server/analysis/side_settings.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace packtrain::analysis {
namespace {

using ValuesByKey = std::map<std::string, SettingValues>;

ValuesByKey Merge(const std::set<const SettingTexts*>& runs) {
  ValuesByKey merged;
  std::map<std::string, std::size_t> known;
  for (const SettingTexts* texts : runs) {
    for (const auto& [key, value] : *texts) {
      merged[key].insert(value);
      ++known[key];
    }
  }
  for (auto& [key, values] : merged) {
    if (known[key] < runs.size()) values.insert(kNotGiven);
  }
  return merged;
}

const SettingValues& ValuesOf(const ValuesByKey& side, const std::string& key) {
  static const SettingValues none = {kNotGiven};
  const auto found = side.find(key);
  return found == side.end() ? none : found->second;
}

std::set<std::string> KeysOf(const ValuesByKey& a, const ValuesByKey& b) {
  std::set<std::string> keys;
  for (const ValuesByKey* side : {&a, &b}) {
    for (const auto& [key, values] : *side) keys.insert(key);
  }
  return keys;
}

bool HaveNoneInCommon(const SettingValues& a, const SettingValues& b) {
  return std::none_of(a.begin(), a.end(), [&b](const std::string& value) { return b.contains(value); });
}

v1::SettingDifference Difference(const std::string& key, const SettingValues& a, const SettingValues& b) {
  v1::SettingDifference difference;
  difference.set_key(key);
  for (const std::string& value : a) {
    if (difference.a_size() < static_cast<int>(kMaxListedValues)) difference.add_a(value);
  }
  for (const std::string& value : b) {
    if (difference.b_size() < static_cast<int>(kMaxListedValues)) difference.add_b(value);
  }
  return difference;
}

// What is compared itself, or a part of it, and what the metric does not depend on, is no difference.
enum class Bearing { kNone, kInsideSides, kEverywhere };
Bearing BearingOf(const std::string& key, const PairQuestion& question) {
  const std::optional<RunSetting> setting = FindSetting(key);
  if (key == question.by || !setting.has_value()) return Bearing::kNone;
  if (setting->of_learning && !question.of_learning) return Bearing::kNone;
  return setting->belongs_to == question.by ? Bearing::kInsideSides : Bearing::kEverywhere;
}

void CompareConditions(const ValuesByKey& a, const ValuesByKey& b, const PairQuestion& question,
                       PairSettings& settings) {
  for (const std::string& key : KeysOf(a, b)) {
    const SettingValues& in_a = ValuesOf(a, key);
    const SettingValues& in_b = ValuesOf(b, key);
    const Bearing bearing = BearingOf(key, question);
    if (bearing == Bearing::kNone) continue;
    const bool mixed = std::max(in_a.size(), in_b.size()) > 1;
    if (mixed && !question.allow_mixed.contains(key)) {
      settings.mixed.push_back(Difference(key, in_a, in_b));
    } else if (bearing == Bearing::kEverywhere && HaveNoneInCommon(in_a, in_b)) {
      settings.also_differs.push_back(Difference(key, in_a, in_b));
    }
  }
}

void CompareNotes(const ValuesByKey& a, const ValuesByKey& b, const PairQuestion& question,
                  PairSettings& settings) {
  for (const std::string& key : KeysOf(a, b)) {
    const SettingValues& in_a = ValuesOf(a, key);
    const SettingValues& in_b = ValuesOf(b, key);
    if (BearingOf(key, question) != Bearing::kEverywhere || !HaveNoneInCommon(in_a, in_b)) continue;
    settings.also_differs.push_back(Difference(key, in_a, in_b));
  }
}

// Times of day in one zone and format are in the order of their text.
bool AllBefore(const SettingValues& a, const SettingValues& b) {
  return !a.empty() && !b.empty() && *a.rbegin() < *b.begin();
}

SettingValues FirstAndLast(const SettingValues& values) { return {*values.begin(), *values.rbegin()}; }

}  // namespace

SideSettings SettingsOf(const std::vector<MeasuredRun>& runs) {
  std::set<const SettingTexts*> conditions;
  std::set<const SettingTexts*> notes;
  SideSettings side;
  for (const MeasuredRun& run : runs) {
    conditions.insert(run.conditions);
    notes.insert(run.notes);
    if (!run.started.empty()) side.started.insert(run.started);
  }
  side.conditions = Merge(conditions);
  side.notes = Merge(notes);
  return side;
}

PairSettings CompareSettings(const SideSettings& a, const SideSettings& b, const PairQuestion& question) {
  PairSettings settings;
  CompareConditions(a.conditions, b.conditions, question, settings);
  CompareNotes(a.notes, b.notes, question, settings);
  if (question.by != kStartedKey && (AllBefore(a.started, b.started) || AllBefore(b.started, a.started))) {
    settings.also_differs.push_back(Difference(kStartedKey, FirstAndLast(a.started), FirstAndLast(b.started)));
  }
  return settings;
}

}  // namespace packtrain::analysis
