// How the commands of packtrain are put together: a function adds a command to the program, parsing fills the
// command's flags, and the chosen command's action runs afterwards.
//
//   void AddRunSummary(CLI::App& run, Invocation& invocation) {
//     CLI::App* summary = AddCommand(run, "summary", "Shows a run's times", {"packtrain run summary RUN"});
//     const auto name = std::make_shared<std::string>();
//     summary->add_option("RUN", *name)->required();
//     OnChosen(*summary, invocation, WithFlags(name, ShowSummary));
//   }
#ifndef PACKTRAIN_CLIENT_CLI_COMMAND_H_
#define PACKTRAIN_CLIENT_CLI_COMMAND_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/output.h"

namespace CLI {
class App;
}

namespace packtrain::client {
class Connection;
struct ConnectionOptions;
}  // namespace packtrain::client

namespace packtrain::cli {

// Exit codes that scripts may rely on.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kUnreachable = 3,
  kGraphsRefused = 4,  // an import finished, but left graphs out
};

// Flags that every command takes, before or after its name.
struct GlobalOptions {
  std::string server = "127.0.0.1:7077";
  std::chrono::milliseconds give_up{10'000};
  bool json = false;
  bool csv = false;
  std::string command_line;  // as typed, for people
};

// Runs a command whose line is parsed. A status ends the program: INVALID_ARGUMENT with kUsage, others as
// DataError.
using Action = std::function<absl::StatusOr<ExitCode>(const GlobalOptions&, Output&)>;

// The action that calls `run(const Flags&, const GlobalOptions&, Output&)` with `flags`, which parsing has
// filled.
template <typename Flags, typename Run>
Action WithFlags(std::shared_ptr<Flags> flags, Run run) {
  return [flags = std::move(flags), run](const GlobalOptions& global, Output& output) {
    return run(*flags, global, output);
  };
}

// What a command line leaves to be done. Filled while CLI11 parses.
struct Invocation {
  GlobalOptions global;
  Action action;
  bool prints_table = false;  // --csv is allowed
};

// Makes the help of `app` start with `examples`, one command line each.
void SetHelp(CLI::App& app, const std::vector<std::string>& examples);

// Adds a command below `parent` (the program, or a noun such as `dataset`). Owned by `parent`.
CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& description,
                     const std::vector<std::string>& examples);

// Adds a noun: a command that needs one of the verbs below it.
CLI::App* AddNoun(CLI::App& parent, const std::string& name, const std::string& description,
                  const std::vector<std::string>& examples);

// Makes `action` what happens when `command` is chosen. Both references must outlive the parse.
void OnChosen(CLI::App& command, Invocation& invocation, Action action);

// As OnChosen, for a command that prints a table and so takes --csv.
void OnChosenPrintTable(CLI::App& command, Invocation& invocation, Action action);

// Reports a mistake of the command line that only shows after parsing.
ExitCode UsageError(Output& output, const std::string& message);

// Refuses --csv, for a command line that prints no table.
ExitCode RefuseCsv(Output& output);

// Reports a failure that does not lie in the command line, whatever its code; UNAVAILABLE is kUnreachable.
ExitCode DataError(Output& output, const absl::Status& status);

// What the global flags say of the connection to the server.
client::ConnectionOptions ConnectionOptionsOf(const GlobalOptions& global);

// Connects to the server of `--server`; UNAVAILABLE after `--give-up`.
absl::StatusOr<std::shared_ptr<client::Connection>> Connect(const GlobalOptions& global);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_COMMAND_H_
