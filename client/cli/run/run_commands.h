// The verbs of `packtrain run`, and what they share in print.
#ifndef PACKTRAIN_CLIENT_CLI_RUN_RUN_COMMANDS_H_
#define PACKTRAIN_CLIENT_CLI_RUN_RUN_COMMANDS_H_

#include <cstdint>
#include <string>

#include "client/cli/command.h"
#include "packtrain/v1/run.pb.h"

namespace packtrain::cli {

// Each adds one verb, or the verbs of one kind of record, below `run`.
void AddRunListCommand(CLI::App& run, Invocation& invocation);
void AddRunShowCommands(CLI::App& run, Invocation& invocation);
void AddRunStepsCommands(CLI::App& run, Invocation& invocation);
void AddRunCurveCommand(CLI::App& run, Invocation& invocation);
void AddRunCompareCommand(CLI::App& run, Invocation& invocation);

// The keys of `run list`.
Json RunToJson(const v1::Run& run);

// Milliseconds since 1970 as "2025-01-31T12:00:00Z".
std::string FormatTime(std::int64_t ms);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_RUN_RUN_COMMANDS_H_
