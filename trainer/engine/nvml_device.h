// What NVIDIA's management library tells of a GPU. The library is looked for when the program runs.
#ifndef PACKTRAIN_TRAINER_ENGINE_NVML_DEVICE_H_
#define PACKTRAIN_TRAINER_ENGINE_NVML_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace packtrain::trainer {

// One physical GPU. Any number of threads may use it.
class NvmlDevice {
 public:
  // `pci_bus_id` as cudaDeviceGetPCIBusId gives it, since NVML counts devices in an order of its own. Tells the
  // NVML found as `library`; UNAVAILABLE: there is none, or it knows no such device.
  static absl::StatusOr<std::unique_ptr<NvmlDevice>> Open(const std::string& pci_bus_id,
                                                          const std::string& library = "libnvidia-ml.so.1");
  virtual ~NvmlDevice() = default;

  // Of the card, in the whole world; empty: not known.
  virtual const std::string& uuid() const = 0;
  // 0 .. 1: share of NVML's last sampling period (1/6 to 1 s) in which a kernel ran. Negative: not known.
  virtual double Use() const = 0;
  // Microjoules, by steps of a millijoule and refreshed some ten times a second, since the driver was loaded.
  // Negative: not known.
  virtual std::int64_t EnergyUj() const = 0;
  // What the card's power is held below. Negative: not known, as from an NVML that cannot tell.
  virtual double PowerLimitWatts() const = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_NVML_DEVICE_H_
