// The argument that names a run, equal in every command below `packtrain run` that takes one.
#ifndef PACKTRAIN_CLIENT_CLI_RUN_RUN_ARGUMENT_H_
#define PACKTRAIN_CLIENT_CLI_RUN_RUN_ARGUMENT_H_

#include <string>

#include "CLI/CLI.hpp"

namespace packtrain::cli {

// Parsing fills `run`, which must outlive `command`.
inline void AddRunArgument(CLI::App& command, std::string& run) {
  command.add_option("RUN", run, "Name of a run, or an unambiguous beginning of it")->required();
}

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_RUN_RUN_ARGUMENT_H_
