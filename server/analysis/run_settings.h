// The settings of a run as text, each with its key and its kind: the one table by which runs are filtered and
// compared.
//
// A new field of v1.RunDescription is one row of it; RunSettings.EveryFieldOfTheDescriptionHasAKind fails until
// it has one.
//
//   const std::optional<RunSetting> setting = FindSetting("learning_rate");  // or "label.node"
//   setting->kind;                                                          // SettingKind::kCondition
//   setting->read(run);                                                     // "0.0001"
//   ReadSettings(run, SettingKind::kFactor);                                // {{"policy", "dynamic"}, ...}
#ifndef PACKTRAIN_SERVER_ANALYSIS_RUN_SETTINGS_H_
#define PACKTRAIN_SERVER_ANALYSIS_RUN_SETTINGS_H_

#include <google/protobuf/map.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packtrain/v1/run.pb.h"

namespace packtrain::analysis {

enum class SettingKind {
  kFactor,     // each combination of the factors that are not compared is a cell
  kCondition,  // ought to be equal within a side, and between the sides
  kNote,       // is named where it separates the sides
  kRepeat,     // may differ freely among repeats
  kRecord      // of the run's record, not of its description: filters alone know it
};

// How filters compare values.
enum class ValueType {
  kText,
  kNumber,
  kAny  // words of a client's own: text, but where order is asked for, numbers
};

// When a run began, a note: it separates the sides where all runs of one began before all of the other.
inline constexpr char kStartedKey[] = "started";

struct RunSetting {
  // Nothing where the run does not have it, or where it is not known.
  using Reader = std::function<std::optional<std::string>(const v1::Run& run)>;
  using Entries = google::protobuf::Map<std::string, std::string>;

  std::string key;  // of a family, such as "label.", what NAME follows
  SettingKind kind = SettingKind::kRecord;
  // Fields of v1.RunDescription that it is read from, such as "spec.policy".
  std::vector<std::string> fields;
  Reader read;
  ValueType type = ValueType::kText;
  // The factor of which it is a part: it goes into that one's name where that one is compared (a data set's
  // version), or is no difference between its values (a policy's budget).
  std::string belongs_to = {};
  // Moves what is learnt, not the time of a step.
  bool of_learning = false;
  // What comparisons read in place of `read`; null: that.
  Reader compared = nullptr;
  // Of a family, which has one setting for every NAME; `read` is null then.
  std::function<const Entries&(const v1::Run& run)> entries = nullptr;
};

// Every row, in the order of the page.
const std::vector<RunSetting>& AllSettings();

// Nothing where there is no such key. `label.NAME`, `library.NAME` and `other.NAME` are keys for every NAME.
std::optional<RunSetting> FindSetting(std::string_view key);

// All keys of these kinds in order, for messages: "balance, batch_graphs, ..., label.NAME".
std::string KnownSettings(std::initializer_list<SettingKind> kinds);

// Text by key.
using SettingTexts = std::map<std::string, std::string>;
// All of one kind that the run has, as comparisons read them.
SettingTexts ReadSettings(const v1::Run& run, SettingKind kind);

// Both seeds of a run: of the order of its batches, and of the model's initial parameters.
struct RunSeeds {
  std::uint32_t data = 0;
  std::uint32_t model = 0;
  friend auto operator<=>(const RunSeeds&, const RunSeeds&) = default;
};
// Nothing where one of them is not given. The fields have no presence: 0 is given where the description has a
// spec, or `settings`, by which trainers that always give a seed are known.
std::optional<RunSeeds> SeedsOf(const v1::RunDescription& description);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_RUN_SETTINGS_H_
