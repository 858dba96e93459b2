// A libnvidia-ml.so.1 of one card, 0000:1B:00.0, which is 45 % busy, has taken 1234 mJ and is held below 650.5
// W; other cards are known, but tell nothing.
#include <cstring>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, void** device) {
  static int telling = 0, silent = 0;
  if (std::strlen(pci_bus_id) != 12) return 6;
  *device = std::strcmp(pci_bus_id, "0000:1B:00.0") == 0 ? &telling : &silent;
  static_cast<int*>(*device)[0] = *device == &telling;
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* text, unsigned int size) {
  std::strncpy(text, "GPU-45", size);
  return *static_cast<int*>(device) == 1 ? 0 : 3;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned int (*rates)[2]) {
  (*rates)[0] = 45;
  return *static_cast<int*>(device) == 1 ? 0 : 3;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  *millijoules = 1234;
  return *static_cast<int*>(device) == 1 ? 0 : 3;
}

int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned int* milliwatts) {
  *milliwatts = 650'500;
  return *static_cast<int*>(device) == 1 ? 0 : 3;
}

}  // extern "C"
