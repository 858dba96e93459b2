// Every command of packtrain. Each is made by one function, in the file of its name below its noun's folder,
// and has one row in the table of commands.cc.
#ifndef PACKTRAIN_CLIENT_CLI_COMMANDS_H_
#define PACKTRAIN_CLIENT_CLI_COMMANDS_H_

#include "client/cli/command.h"

namespace packtrain::cli {

// Each adds its command below `parent`, the program or a noun, and leaves its action in `invocation` when the
// command is chosen.
void AddImport(CLI::App& parent, Invocation& invocation);
void AddPlan(CLI::App& parent, Invocation& invocation);
void AddFsck(CLI::App& parent, Invocation& invocation);

void AddDatasetList(CLI::App& parent, Invocation& invocation);
void AddDatasetShow(CLI::App& parent, Invocation& invocation);
void AddDatasetDerive(CLI::App& parent, Invocation& invocation);
void AddDatasetSplit(CLI::App& parent, Invocation& invocation);
void AddDatasetDelete(CLI::App& parent, Invocation& invocation);
void AddDatasetExport(CLI::App& parent, Invocation& invocation);

void AddRunList(CLI::App& parent, Invocation& invocation);
void AddRunShow(CLI::App& parent, Invocation& invocation);
void AddRunSummary(CLI::App& parent, Invocation& invocation);
void AddRunSteps(CLI::App& parent, Invocation& invocation);
void AddRunBatch(CLI::App& parent, Invocation& invocation);
void AddRunExport(CLI::App& parent, Invocation& invocation);
void AddRunCurve(CLI::App& parent, Invocation& invocation);
void AddRunCompare(CLI::App& parent, Invocation& invocation);

void AddBenchStream(CLI::App& parent, Invocation& invocation);
void AddBenchPlan(CLI::App& parent, Invocation& invocation);

void AddServerInfo(CLI::App& parent, Invocation& invocation);

// Adds all of them, in the order of the help.
void AddCommands(CLI::App& program, Invocation& invocation);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_COMMANDS_H_
