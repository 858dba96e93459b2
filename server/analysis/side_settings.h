// Whether the runs of two sides were made alike.
//
//   const SideSettings a = SettingsOf(runs_of_a);
//   const PairSettings settings = CompareSettings(a, b, {.by = "policy"});
//   settings.mixed;         // the verdict is withheld
//   settings.also_differs;  // stands beside it
#ifndef PACKTRAIN_SERVER_ANALYSIS_SIDE_SETTINGS_H_
#define PACKTRAIN_SERVER_ANALYSIS_SIDE_SETTINGS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/analysis/measured_run.h"
#include "server/analysis/setting_value.h"

namespace packtrain::analysis {

// A value that is not known, or does not apply.
inline constexpr char kNotGiven[] = "not given";
// Values of a side that a difference lists.
inline constexpr std::size_t kMaxListedValues = 16;

using SettingValues = std::set<std::string, SettingValueLess>;

// The values of the runs of one side, by key; kNotGiven where some of them have it and others not.
struct SideSettings {
  std::map<std::string, SettingValues> conditions;
  std::map<std::string, SettingValues> notes;
  SettingValues started;
};
SideSettings SettingsOf(const std::vector<MeasuredRun>& runs);

// What is compared.
struct PairQuestion {
  std::string by;                     // a setting, or label.NAME
  std::set<std::string> allow_mixed;  // conditions that may differ inside a side, and are then as notes
  bool of_learning = false;           // the metric is: what moves only that counts, too
};

struct PairSettings {
  std::vector<v1::SettingDifference> mixed;  // conditions that differ inside a side
  std::vector<v1::SettingDifference>
      also_differs;  // what separates the sides beside `by` and what belongs to it
};
PairSettings CompareSettings(const SideSettings& a, const SideSettings& b, const PairQuestion& question);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_SIDE_SETTINGS_H_
