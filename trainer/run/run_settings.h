// What two parts of one training must have in common.
#ifndef PACKTRAIN_TRAINER_RUN_RUN_SETTINGS_H_
#define PACKTRAIN_TRAINER_RUN_RUN_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/wire/batch_spec.h"
#include "trainer/engine/rate_schedule.h"

namespace packtrain::trainer {

// `name` is that of the flag which sets it, where one does.
struct Setting {
  std::string name;
  std::string value;
  friend bool operator==(const Setting&, const Setting&) = default;
};
using Settings = std::vector<Setting>;

// Every field of `spec`; "default" where the server chooses.
Settings SettingsOf(const wire::BatchSpec& spec);

// How steps are made: the engine that was chosen, and whether a device that has kernels of ours does without.
struct StepMaking {
  bool captured = false;
  bool plain_kernels = false;
};
Settings SettingsOf(const StepMaking& making);
// What tells the model from the usual one, as DescribeChoices has it. Empty where nothing does, as it is in a
// checkpoint of a program that knew no choices.
Settings SettingsOf(const std::map<std::string, std::string>& model_choices);
// How the learning rate goes on. Empty where it is the staircase without a warm-up, as it is in a checkpoint of
// a program that knew nothing else. `steps` are those of the training, which a cosine has as its length.
struct RateChoices {
  RateSchedule schedule = RateSchedule::kStaircase;
  std::uint64_t warmup_steps = 0;
  std::uint64_t steps = 0;
};
Settings SettingsOf(const RateChoices& choices);
// As the run's record has it: "captured", "eager-plain".
std::string EngineName(const StepMaking& making);

// FAILED_PRECONDITION names each setting of `now` that was another one `then`, with both values.
absl::Status CheckSameSettings(const Settings& then, const Settings& now);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_RUN_SETTINGS_H_
