#include "proto/base/host_id.h"

#include <fstream>

namespace packtrain::base {

std::string HostId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace packtrain::base
