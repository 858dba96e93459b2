// What a run's record says of how it trains and where: all that can move a metric, beside the batch spec.
#ifndef PACKTRAIN_TRAINER_RUN_REPORTED_SETTINGS_H_
#define PACKTRAIN_TRAINER_RUN_REPORTED_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/run_reporter.h"
#include "client/server_info.h"
#include "trainer/data/target.h"
#include "trainer/run/training_options.h"

namespace packtrain::trainer {

// What the options do not say.
struct MadeChoices {
  int threads = 0;
  bool captured = false;
  std::string learning_rate_schedule = {};        // empty: none
  std::int64_t classes = 0;                       // of the embedding; 0: there is none
  std::map<std::string, std::string> model = {};  // DescribeChoices
};
client::TrainerSettings SettingsToReport(const TrainingOptions& options, const MadeChoices& choices);

// "A,B,..", but at most 1,000 bytes, as a server takes no more than 1,024 of a text: of more names those that
// fit, and how many others there are. Empty where there are no targets.
std::string TargetToReport(const std::vector<Target>& targets);

// "served" or "synthetic".
std::string InputName(const TrainingOptions& options);

// `host_id` is that of this process, `power_limit_watts` that of the device, negative where it is not known.
client::RunEnvironment EnvironmentToReport(const client::ServerInfo& server, const std::string& host_id,
                                           double power_limit_watts);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_REPORTED_SETTINGS_H_
