// What two parts of one training must have in common.
#ifndef PACKTRAIN_TRAINER_ENGINE_RUN_SETTINGS_H_
#define PACKTRAIN_TRAINER_ENGINE_RUN_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/batch_spec.h"

namespace packtrain::trainer {

// `name` is that of the flag which sets it, where one does.
struct Setting {
  std::string name;
  std::string value;
  friend bool operator==(const Setting&, const Setting&) = default;
};
using Settings = std::vector<Setting>;

// Every field of `spec`; "default" where the server chooses.
Settings SettingsOf(const client::BatchSpec& spec);

// FAILED_PRECONDITION names each setting of `now` that was another one `then`, with both values.
absl::Status CheckSameSettings(const Settings& then, const Settings& now);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_RUN_SETTINGS_H_
