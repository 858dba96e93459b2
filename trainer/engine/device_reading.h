// What a device says of its own use.
#ifndef PACKTRAIN_TRAINER_ENGINE_DEVICE_READING_H_
#define PACKTRAIN_TRAINER_ENGINE_DEVICE_READING_H_

#include <cstdint>
#include <string>

namespace packtrain::trainer {

// Negative: not known.
struct DeviceReading {
  std::int64_t memory_bytes = -1;  // that this process holds on the device
  double use = -1;                 // 0 .. 1, share of the last moments in which anyone's work ran on it
  std::int64_t energy_uj = -1;     // that the whole device has taken since its driver was loaded
  double power_limit_watts = -1;   // that the whole device is held below
  std::string id{};                // of what has the energy counter, in the whole world; empty: not known
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_DEVICE_READING_H_
