#include "trainer/run/reported_settings.h"

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {

client::TrainerSettings SettingsToReport(const TrainingOptions& options, const MadeChoices& choices) {
  client::TrainerSettings settings;
  settings.threads = static_cast<std::uint32_t>(choices.threads);
  if (!options.synthetic) settings.read_ahead_bytes = options.read_ahead_mib << 20;
  if (!choices.learning_rate_schedule.empty()) {
    settings.learning_rate_schedule = choices.learning_rate_schedule;
  }
  if (choices.captured) settings.max_captures = options.max_captures;
  settings.evaluate_every = options.evaluate_every;
  if (!options.checkpoint.folder.empty()) settings.checkpoint_every = options.checkpoint.every;
  if (choices.classes > 0) settings.other["classes"] = absl::StrCat(choices.classes);
  settings.other.insert(choices.model.begin(), choices.model.end());
  return settings;
}

std::string TargetToReport(const std::vector<Target>& targets) {
  constexpr std::size_t kMaxBytes = 1000, kBytesOfOthers = 40;
  const std::string all = NamesOf(targets);
  if (all.size() <= kMaxBytes) return all;
  std::string fitting;
  std::size_t named = 0;
  while (fitting.size() + targets[named].name.size() + 1 + kBytesOfOthers <= kMaxBytes)
    absl::StrAppend(&fitting, fitting.empty() ? "" : ",", targets[named++].name);
  return absl::StrCat(fitting, named > 0 ? " and " : "", targets.size() - named, " other targets");
}

std::string InputName(const TrainingOptions& options) { return options.synthetic ? "synthetic" : "served"; }

client::RunEnvironment EnvironmentToReport(const client::ServerInfo& server, const std::string& host_id,
                                           double power_limit_watts) {
  client::RunEnvironment environment;
  if (server.builders > 0) environment.server_builders = server.builders;
  if (!server.host_id.empty() && !host_id.empty()) {
    environment.shares_host_with_server = server.host_id == host_id;
  }
  if (power_limit_watts >= 0) environment.power_limit_watts = power_limit_watts;
  return environment;
}

}  // namespace packtrain::trainer
