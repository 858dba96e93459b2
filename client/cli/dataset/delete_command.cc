// packtrain dataset delete
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/message_json.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"

namespace packtrain::cli {
namespace {

struct DeleteFlags {
  std::string dataset;
  bool yes = false;
};

// NAME of NAME or NAME@VERSION.
std::string NameOf(const std::string& reference) { return reference.substr(0, reference.find('@')); }

std::string Describe(const v1::DeletedVersion& version) {
  std::string text = absl::StrCat(version.dataset(), ": ", FormatCount(static_cast<double>(version.graphs())),
                                  " graphs, ", FormatBytes(static_cast<double>(version.bytes())), "\n");
  for (const std::string& run : version.running_runs()) {
    absl::StrAppend(&text, "  run ", run, " is running: it keeps the version until it ends\n");
  }
  return text;
}

std::string Describe(const v1::DeleteDatasetResponse& response) {
  std::string text;
  for (const v1::DeletedVersion& version : response.versions()) text += Describe(version);
  return text;
}

std::string Outcome(const DeleteFlags& flags, const v1::DeleteDatasetResponse& response) {
  std::string text = "deleted " + Describe(response);
  for (const v1::DeletedVersion& version : response.versions()) {
    if (!version.reclaimed()) {
      absl::StrAppend(&text, version.dataset(), " is in use; its space is given back when it is not\n");
    }
  }
  if (response.current_version().empty()) return text;
  return absl::StrCat(text, NameOf(flags.dataset), " is ",
                      wire::FullName(NameOf(flags.dataset), response.current_version()), " now\n");
}

// Asks on the terminal.
bool IsConfirmed(const v1::DeleteDatasetResponse& planned, Output& output) {
  output.messages() << Describe(planned) << "Delete for good? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

absl::StatusOr<ExitCode> Delete(const DeleteFlags& flags, const GlobalOptions& global, Output& output) {
  if (!flags.yes && ::isatty(STDIN_FILENO) == 0) {
    return UsageError(output,
                      "dataset delete deletes for good and can't ask, as there is no terminal: say --yes");
  }
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<client::Connection> connection, Connect(global));
  client::ServiceClient services(connection);
  v1::DeleteDatasetRequest request;
  request.set_dataset(flags.dataset);
  if (!flags.yes) {
    request.set_dry_run(true);
    const absl::StatusOr<v1::DeleteDatasetResponse> planned = services.DeleteDataset(request);
    if (!planned.ok()) return DataError(output, planned.status());
    if (!IsConfirmed(*planned, output)) {
      output.Note("nothing was deleted");
      return ExitCode::kFailed;
    }
    request.set_dry_run(false);
  }
  const absl::StatusOr<v1::DeleteDatasetResponse> deleted = services.DeleteDataset(request);
  if (!deleted.ok()) return DataError(output, deleted.status());
  output.Print(MessageToJson(*deleted), Outcome(flags, *deleted));
  return ExitCode::kDone;
}

}  // namespace

void AddDatasetDelete(CLI::App& dataset, Invocation& invocation) {
  CLI::App* command =
      AddCommand(dataset, "delete", "Deletes a data set with all its versions, or one version, for good",
                 {"packtrain dataset delete qm9@0123456789abcdef", "packtrain dataset delete qm9 --yes"});
  const auto flags = std::make_shared<DeleteFlags>();
  command
      ->add_option("DATASET", flags->dataset,
                   "NAME, for all versions; or NAME@VERSION, after which NAME is the version imported last of "
                   "those left")
      ->required();
  command->add_flag("--yes", flags->yes, "Do not ask");
  OnChosen(*command, invocation, WithFlags(flags, Delete));
}

}  // namespace packtrain::cli
