#include <iostream>

#include "client/cli/program.h"
#include "client/process_memory.h"

int main(int argc, char** argv) {
  packtrain::client::KeepFreedMemory();
  return packtrain::cli::RunProgram(argc, argv, std::cout, std::cerr);
}
