#include "trainer/engine/nvml_device.h"

#include <dlfcn.h>

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packtrain::trainer {
namespace {

// As nvml.h of CUDA 13 declares them; the names and layouts are NVML's stable interface. 0 is success.
using Handle = void*;
struct Utilization {
  unsigned int gpu_percent;
  unsigned int memory_percent;
};
struct Functions {
  int (*init)();
  int (*shutdown)();
  int (*handle_by_pci_bus_id)(const char* pci_bus_id, Handle* device);
  int (*uuid)(Handle device, char* text, unsigned int size);
  int (*utilization)(Handle device, Utilization* utilization);
  int (*energy_mj)(Handle device, unsigned long long* millijoules);
  int (*power_limit_mw)(Handle device, unsigned int* milliwatts);  // may be null
};

struct LibraryCloser {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, LibraryCloser>;

template <typename Function>
bool Find(const Library& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library.get(), name));
  return function != nullptr;
}

bool FindAll(const Library& library, Functions& functions) {
  Find(library, "nvmlDeviceGetEnforcedPowerLimit", functions.power_limit_mw);
  return Find(library, "nvmlInit_v2", functions.init) && Find(library, "nvmlShutdown", functions.shutdown) &&
         Find(library, "nvmlDeviceGetHandleByPciBusId_v2", functions.handle_by_pci_bus_id) &&
         Find(library, "nvmlDeviceGetUUID", functions.uuid) &&
         Find(library, "nvmlDeviceGetUtilizationRates", functions.utilization) &&
         Find(library, "nvmlDeviceGetTotalEnergyConsumption", functions.energy_mj);
}

// Holds NVML initialised.
class LoadedDevice final : public NvmlDevice {
 public:
  LoadedDevice(Library library, const Functions& functions)
      : library_(std::move(library)), functions_(functions) {}
  ~LoadedDevice() override { functions_.shutdown(); }

  bool Select(const std::string& pci_bus_id) {
    if (functions_.handle_by_pci_bus_id(pci_bus_id.c_str(), &device_) != 0) return false;
    std::array<char, 96> text{};
    if (functions_.uuid(device_, text.data(), text.size()) == 0) uuid_ = text.data();
    return true;
  }

  const std::string& uuid() const override { return uuid_; }

  double Use() const override {
    Utilization utilization{};
    return functions_.utilization(device_, &utilization) == 0 ? utilization.gpu_percent / 100.0 : -1;
  }

  std::int64_t EnergyUj() const override {
    unsigned long long millijoules = 0;
    return functions_.energy_mj(device_, &millijoules) == 0 ? static_cast<std::int64_t>(millijoules) * 1000
                                                            : -1;
  }

  double PowerLimitWatts() const override {
    unsigned int milliwatts = 0;
    const bool known =
        functions_.power_limit_mw != nullptr && functions_.power_limit_mw(device_, &milliwatts) == 0;
    return known ? milliwatts / 1000.0 : -1;
  }

 private:
  const Library library_;
  const Functions functions_;
  Handle device_ = nullptr;
  std::string uuid_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NvmlDevice>> NvmlDevice::Open(const std::string& pci_bus_id,
                                                             const std::string& library) {
  Library loaded(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (loaded == nullptr) return absl::UnavailableError(absl::StrCat("no NVML: ", dlerror()));
  Functions functions{};
  if (!FindAll(loaded, functions)) return absl::UnavailableError(absl::StrCat(library, " lacks a function"));
  if (const int error = functions.init(); error != 0) {
    return absl::UnavailableError(absl::StrCat("NVML does not start: error ", error));
  }
  auto device = std::make_unique<LoadedDevice>(std::move(loaded), functions);
  if (!device->Select(pci_bus_id)) {
    return absl::UnavailableError(absl::StrCat("NVML knows no device ", pci_bus_id));
  }
  return device;
}

}  // namespace packtrain::trainer
