#include "proto/base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace packtrain::base {

bool HoldStandardDescriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // Gets the lowest descriptor that is free, which is this one.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor) {
      std::perror("/dev/null");
      return false;
    }
  }
  return true;
}

}  // namespace packtrain::base
