#include "client/cli/program.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/cli/command.h"
#include "client/cli/commands.h"
#include "client/cli/output.h"
#include "proto/base/flag_checks.h"

namespace packtrain::cli {
namespace {

constexpr double kMaxGiveUpSeconds = 1e6;

void AddGlobalFlags(CLI::App& app, GlobalOptions& global) {
  app.set_version_flag("--version", "packtrain " PACKTRAIN_VERSION);
  app.add_option("--server", global.server, "Server: HOST:PORT, unix:PATH, dns:///NAME:PORT or ipv4:A:P,B:P")
      ->envname("PACKTRAIN_SERVER")
      ->option_text("ADDRESS (default $PACKTRAIN_SERVER, else " + global.server + ")");
  app.add_option_function<double>(
         "--give-up",
         [&global](double seconds) {
           global.give_up = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
         },
         "Seconds to wait for a server that cannot be reached, or has no memory for a call")
      ->check(base::NumberBetween(0, kMaxGiveUpSeconds))
      ->option_text("SECONDS (default 10)");
  app.add_flag("--json", global.json, "Print one line of JSON on stdout, errors too");
  app.add_flag("--csv", global.csv, "Print CSV, where the command prints a table")->excludes("--json");
}

std::string JoinWords(int argc, const char* const* argv) {
  std::string line = "packtrain";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  return line;
}

OutputFormat FormatOf(const GlobalOptions& global) {
  if (global.json) return OutputFormat::kJson;
  return global.csv ? OutputFormat::kCsv : OutputFormat::kText;
}

// For a line that could not be parsed.
OutputFormat FormatOf(int argc, const char* const* argv) {
  const bool json = std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
  return json ? OutputFormat::kJson : OutputFormat::kText;
}

// CLI11 misses a command before it minds a word that is none.
std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  if (unknown.empty() || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return error.what();
  return "unknown command or flag '" + unknown.front() + "'";
}

ExitCode Fail(Output& output, const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return DataError(output, status);
  output.PrintError(status);
  return ExitCode::kUsage;
}

ExitCode ReportParseEnd(const CLI::App& app, const CLI::ParseError& end, Output output) {
  if (end.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
    return UsageError(output, WhatIsWrong(app, end) + " (--help shows the usage)");
  }
  const bool version = dynamic_cast<const CLI::CallForVersion*>(&end) != nullptr;
  const absl::Status written = output.Write(version ? end.what() + std::string("\n") : app.help());
  return written.ok() ? ExitCode::kDone : Fail(output, written);
}

ExitCode RunAction(const Invocation& invocation, Output& output) {
  if (invocation.global.csv && !invocation.prints_table) return RefuseCsv(output);
  const absl::StatusOr<ExitCode> result = invocation.action(invocation.global, output);
  if (!result.ok()) return Fail(output, result.status());
  const absl::Status written = output.Written();
  return written.ok() ? *result : Fail(output, written);
}

}  // namespace

int RunProgram(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("Imports graphs, shows plans and compares training runs", "packtrain");
  SetHelp(app, {"packtrain import extxyz molecules.xyz.gz --name molecules --edges full",
                "packtrain plan --dataset molecules --policy dynamic --graphs 127",
                "packtrain run compare --where 'dataset = molecules' --by policy"});
  app.require_subcommand(1);
  Invocation invocation;
  invocation.global.command_line = JoinWords(argc, argv);
  AddGlobalFlags(app, invocation.global);
  AddCommands(app, invocation);
  try {
    base::RefuseFlagsWithoutValue(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return static_cast<int>(ReportParseEnd(app, end, Output(out, err, FormatOf(argc, argv))));
  }
  Output output(out, err, FormatOf(invocation.global));
  try {
    return static_cast<int>(RunAction(invocation, output));
  } catch (const std::bad_alloc&) {
    return static_cast<int>(Fail(output, absl::ResourceExhaustedError("there is not enough memory for that")));
  }
}

}  // namespace packtrain::cli
