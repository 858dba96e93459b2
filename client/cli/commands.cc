#include "client/cli/commands.h"

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace packtrain::cli {
namespace {

using AddFunction = void (*)(CLI::App& parent, Invocation& invocation);

// The commands below one noun; without a name, commands of the program itself.
struct Noun {
  const char* name;
  const char* description;
  std::vector<std::string> examples;
  std::vector<AddFunction> commands;
};

std::vector<Noun> Nouns() {
  return {
      {nullptr, nullptr, {}, {AddImport}},
      {"dataset",
       "Looks at stored data sets, and changes which there are",
       {"packtrain dataset list", "packtrain dataset show qm9",
        "packtrain dataset derive qm9 --edges radius:5 --name qm9-r5",
        "packtrain dataset export qm9 --format native -o qm9.packtrain"},
       {AddDatasetList, AddDatasetShow, AddDatasetDerive, AddDatasetSplit, AddDatasetDelete, AddDatasetExport}},
      {nullptr, nullptr, {}, {AddPlan}},
      {"run",
       "Asks about training runs",
       {"packtrain run list", "packtrain run compare --where 'dataset = qm9' --by policy"},
       {AddRunList, AddRunShow, AddRunSummary, AddRunSteps, AddRunBatch, AddRunExport, AddRunCurve,
        AddRunCompare}},
      {"bench",
       "Measures a server, or the planner",
       {"packtrain bench stream --dataset qm9 --policy static --graphs 127",
        "packtrain bench plan --sizes sizes.txt.gz --policy dynamic --graphs 127"},
       {AddBenchStream, AddBenchPlan}},
      {"server", "Looks at a server", {"packtrain server info --server data-node:7077"}, {AddServerInfo}},
      {nullptr, nullptr, {}, {AddFsck}}};
}

CLI::App& ParentOf(const Noun& noun, CLI::App& program) {
  if (noun.name == nullptr) return program;
  return *AddNoun(program, noun.name, noun.description, noun.examples);
}

}  // namespace

void AddCommands(CLI::App& program, Invocation& invocation) {
  for (const Noun& noun : Nouns()) {
    CLI::App& parent = ParentOf(noun, program);
    for (const AddFunction add : noun.commands) add(parent, invocation);
  }
}

}  // namespace packtrain::cli
