#include "trainer/run/run_settings.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packtrain::trainer {
namespace {

std::string OrDefault(const std::string& word) { return word.empty() ? "default" : word; }

std::string OrDefault(const std::optional<std::uint32_t>& number) {
  return number ? absl::StrCat(*number) : "default";
}

std::string OrDefault(const std::optional<client::CostCoefficients>& cost) {
  return cost ? absl::StrCat(cost->graph, ",", cost->node, ",", cost->edge) : "default";
}

// Empty where there is no such setting.
std::string ValueOf(const Settings& settings, const std::string& name) {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.name == name; });
  return found == settings.end() ? "" : found->value;
}

std::string YesOrNo(bool yes) { return yes ? "yes" : "no"; }

}  // namespace

Settings SettingsOf(const client::BatchSpec& spec) {
  return {{"--policy", spec.policy},
          {"--pad", OrDefault(spec.pad)},
          {"--graphs", absl::StrCat(spec.graphs)},
          {"--max-graphs", OrDefault(spec.max_graphs)},
          {"--nodes", OrDefault(spec.nodes)},
          {"--edges", OrDefault(spec.edges)},
          {"--order", spec.order},
          {"--seed", absl::StrCat(spec.seed)},
          {"--split", OrDefault(spec.split)},
          {"--oversize", spec.oversize},
          {"--drop-last", YesOrNo(spec.drop_last)},
          {"--budget-sample", OrDefault(spec.budget_sample)},
          {"--balance", spec.balance},
          {"--cost", OrDefault(spec.cost)},
          {"--lookahead", OrDefault(spec.lookahead)}};
}

Settings SettingsOf(const StepMaking& making) {
  return {{"--engine", EngineName({.captured = making.captured})},
          {"--plain-kernels", YesOrNo(making.plain_kernels)}};
}

std::string EngineName(const StepMaking& making) {
  return absl::StrCat(making.captured ? "captured" : "eager", making.plain_kernels ? "-plain" : "");
}

absl::Status CheckSameSettings(const Settings& then, const Settings& now) {
  std::vector<std::string> differences;
  for (const Setting& setting : now) {
    const std::string before = ValueOf(then, setting.name);
    if (before == setting.value) continue;
    differences.push_back(absl::StrCat(setting.name, " was '", before, "' and is '", setting.value, "'"));
  }
  if (differences.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrJoin(differences, "; "));
}

}  // namespace packtrain::trainer
