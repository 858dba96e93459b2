#include "client/cli/command.h"

#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/connection.h"
#include "client/failure.h"

namespace packtrain::cli {
namespace {

// Answers may be long: the list of refused graphs of an import, or a planned batch.
constexpr int kMaxMessageBytes = 64 << 20;

constexpr char kGlobalFlags[] =
    "Every command takes --server, --give-up and --json, before or after its name; see packtrain --help.";

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 the server cannot be reached, "
    "4 imported, but graphs were left out.";

// Help that starts with examples, which travel in the footer.
class ExamplesFirst : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return CLI::Formatter::make_help(app, name, mode);
    return app->get_footer() + '\n' + CLI::Formatter::make_help(app, std::move(name), mode);
  }
  std::string make_footer(const CLI::App* app) const override {
    return std::string(app->get_parent() == nullptr ? kExitCodes : kGlobalFlags) + '\n';
  }
};

}  // namespace

void SetHelp(CLI::App& app, const std::vector<std::string>& examples) {
  std::string text = "Examples:\n";
  for (const std::string& example : examples) text += "  " + example + '\n';
  app.footer(text);
  app.formatter(std::make_shared<ExamplesFirst>());
}

CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& description,
                     const std::vector<std::string>& examples) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->fallthrough();
  SetHelp(*command, examples);
  return command;
}

CLI::App* AddNoun(CLI::App& parent, const std::string& name, const std::string& description,
                  const std::vector<std::string>& examples) {
  CLI::App* noun = AddCommand(parent, name, description, examples);
  noun->require_subcommand(1);
  return noun;
}

void OnChosen(CLI::App& command, Invocation& invocation, Action action) {
  command.callback([&invocation, action = std::move(action)] { invocation.action = action; });
}

void OnChosenPrintTable(CLI::App& command, Invocation& invocation, Action action) {
  command.callback([&invocation, action = std::move(action)] {
    invocation.action = action;
    invocation.prints_table = true;
  });
}

ExitCode UsageError(Output& output, const std::string& message) {
  output.PrintError(absl::InvalidArgumentError(message));
  return ExitCode::kUsage;
}

ExitCode RefuseCsv(Output& output) {
  return UsageError(output, "--csv: this command prints no table (--help shows the usage)");
}

ExitCode DataError(Output& output, const absl::Status& status) {
  output.PrintError(status);
  const bool unreachable = absl::IsUnavailable(status) && !client::IsFailingServer(status);
  return unreachable ? ExitCode::kUnreachable : ExitCode::kFailed;
}

client::ConnectionOptions ConnectionOptionsOf(const GlobalOptions& global) {
  client::ConnectionOptions options;
  options.server = global.server;
  options.give_up = global.give_up;
  options.max_message_bytes = kMaxMessageBytes;
  return options;
}

absl::StatusOr<std::shared_ptr<client::Connection>> Connect(const GlobalOptions& global) {
  return client::Connection::Open(ConnectionOptionsOf(global));
}

}  // namespace packtrain::cli
