#include <iostream>

#include "client/cli/program.h"

int main(int argc, char** argv) { return packtrain::cli::RunProgram(argc, argv, std::cout, std::cerr); }
