// A run as comparisons keep it: its figure, and the settings that ought to be those of its side.
#ifndef PACKTRAIN_SERVER_ANALYSIS_MEASURED_RUN_H_
#define PACKTRAIN_SERVER_ANALYSIS_MEASURED_RUN_H_

#include <optional>
#include <string>

#include "server/analysis/run_settings.h"

namespace packtrain::analysis {

struct MeasuredRun {
  std::string run;
  double value = 0;
  // Borrowed; runs of equal settings have the same one.
  const SettingTexts* conditions = nullptr;
  const SettingTexts* notes = nullptr;  // without kStartedKey
  std::string started;                  // empty: not known
  std::optional<RunSeeds> seeds;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_MEASURED_RUN_H_
