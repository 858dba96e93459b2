#include <iostream>

#include "client/cli/program.h"
#include "client/process_memory.h"
#include "proto/base/lock_order.h"
#include "proto/base/standard_descriptors.h"

int main(int argc, char** argv) {
  if (!packtrain::base::HoldStandardDescriptors()) return 1;
  packtrain::base::ForgetLockOrder();
  packtrain::client::KeepFreedMemory();
  return packtrain::cli::RunProgram(argc, argv, std::cout, std::cerr);
}
