// The commands of packtrain, one file each. Each function adds its command below `program` and, when the
// command is chosen, leaves its action in `invocation`.
#ifndef PACKTRAIN_CLIENT_CLI_COMMANDS_H_
#define PACKTRAIN_CLIENT_CLI_COMMANDS_H_

#include "client/cli/command.h"

namespace packtrain::cli {

void AddBenchCommand(CLI::App& program, Invocation& invocation);
void AddDatasetCommand(CLI::App& program, Invocation& invocation);
// Below `dataset`.
void AddDatasetChangeCommands(CLI::App& dataset, Invocation& invocation);
void AddDatasetExportCommand(CLI::App& dataset, Invocation& invocation);
void AddFsckCommand(CLI::App& program, Invocation& invocation);
void AddImportCommand(CLI::App& program, Invocation& invocation);
void AddPlanCommand(CLI::App& program, Invocation& invocation);
void AddRunCommand(CLI::App& program, Invocation& invocation);
void AddServerCommand(CLI::App& program, Invocation& invocation);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_COMMANDS_H_
