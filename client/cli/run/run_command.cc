// packtrain run: the noun; its verbs are in run_*_command.cc
#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_commands.h"

namespace packtrain::cli {

void AddRunCommand(CLI::App& program, Invocation& invocation) {
  CLI::App* run = AddNoun(program, "run", "Asks about training runs",
                          {"packtrain run list", "packtrain run compare --where 'dataset = qm9' --by policy"});
  AddRunListCommand(*run, invocation);
  AddRunShowCommands(*run, invocation);
  AddRunStepsCommands(*run, invocation);
  AddRunCurveCommand(*run, invocation);
  AddRunCompareCommand(*run, invocation);
}

}  // namespace packtrain::cli
