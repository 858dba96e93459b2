#include "trainer/run/run_settings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packtrain::trainer {
namespace {

// Empty where there is no such setting.
std::string ValueOf(const Settings& settings, const std::string& name) {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.name == name; });
  return found == settings.end() ? "" : found->value;
}

std::string YesOrNo(bool yes) { return yes ? "yes" : "no"; }

}  // namespace

Settings SettingsOf(const wire::BatchSpec& spec) {
  Settings settings;
  for (wire::OptionText& option : wire::OptionTexts(spec)) {
    settings.push_back({option.flag, option.value.empty() ? "default" : std::move(option.value)});
  }
  return settings;
}

Settings SettingsOf(const StepMaking& making) {
  return {{"--engine", EngineName({.captured = making.captured})},
          {"--plain-kernels", YesOrNo(making.plain_kernels)}};
}

Settings SettingsOf(const std::map<std::string, std::string>& model_choices) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"readout", "--readout"},
      {"adjacency", "--adjacency"},
      {"filter", "--filter"},
      {"hidden", "--hidden"},
      {"layers", "--layers"},
      {"edge_types", "--edge-types"},
      {"mean_log_degree", "the mean logarithm of degrees"}};
  Settings settings;
  for (const auto& [choice, name] : kNames) {
    const auto found = model_choices.find(choice);
    settings.push_back({name, found == model_choices.end() ? "" : found->second});
  }
  return settings;
}

Settings SettingsOf(const RateChoices& choices) {
  std::string schedule;
  if (choices.schedule == RateSchedule::kConstant) schedule = "constant";
  if (choices.schedule == RateSchedule::kCosine)
    schedule = absl::StrCat("cosine over ", choices.steps, " steps");
  return {{"--lr-schedule", schedule},
          {"--warmup-steps", choices.warmup_steps == 0 ? "" : absl::StrCat(choices.warmup_steps)}};
}

std::string EngineName(const StepMaking& making) {
  return absl::StrCat(making.captured ? "captured" : "eager", making.plain_kernels ? "-plain" : "");
}

absl::Status CheckSameSettings(const Settings& then, const Settings& now) {
  std::vector<std::string> differences;
  for (const Setting& setting : now) {
    const std::string before = ValueOf(then, setting.name);
    if (before == setting.value) continue;
    // The program that wrote the checkpoint may not have had the option.
    if (before.empty() && setting.value == "default") continue;
    differences.push_back(absl::StrCat(setting.name, " was '", before, "' and is '", setting.value, "'"));
  }
  if (differences.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrJoin(differences, "; "));
}

}  // namespace packtrain::trainer
