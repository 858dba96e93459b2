// packtrain dataset derive | split | delete
#include <unistd.h>

#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/service_call.h"
#include "client/ingest/split_file.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"
#include "proto/wire/edge_spec.h"

namespace packtrain::cli {
namespace {

constexpr std::uint32_t kPermille = 1000;

struct DeriveFlags {
  std::string dataset;
  std::string name;
  std::string edges;
};

struct SplitFlags {
  std::string dataset;
  std::vector<std::uint32_t> permille;
  std::uint32_t seed = 0;
  std::string file;
};

struct DeleteFlags {
  std::string dataset;
  bool yes = false;
};

std::string CheckEdges(const std::string& text) {
  return std::string(wire::ParseEdgeSpec(text).status().message());
}

// NAME of NAME or NAME@VERSION.
std::string NameOf(const std::string& reference) { return reference.substr(0, reference.find('@')); }

std::string Count(std::uint64_t value) { return FormatCount(static_cast<double>(value)); }

absl::StatusOr<ExitCode> Derive(v1::DeriveDatasetRequest request, const GlobalOptions& global, Output& output) {
  request.set_command(global.command_line);
  const absl::StatusOr<v1::DeriveDatasetResponse> response =
      CallService(global, [&](client::ServiceClient& services) { return services.DeriveDataset(request); });
  if (!response.ok()) return DataError(output, response.status());
  const v1::Dataset& dataset = response->dataset();
  output.Print({{"dataset", dataset.name()},
                {"version", dataset.version()},
                {"unchanged", response->unchanged()},
                {"derived_from", dataset.lineage().derived_from()},
                {"graphs", dataset.graphs()},
                {"edges", dataset.edges().total()}},
               absl::StrCat(dataset.name(), "@", dataset.version(),
                            response->unchanged() ? " was there already\n" : "\n", Count(dataset.graphs()),
                            " graphs, ", Count(dataset.edges().total()), " edges\n"));
  return ExitCode::kDone;
}

absl::StatusOr<ExitCode> Split(const SplitFlags& flags, const GlobalOptions& global, Output& output) {
  v1::DeriveDatasetRequest request;
  request.set_dataset(flags.dataset);
  request.set_name(NameOf(flags.dataset));
  if (flags.file.empty()) {
    const std::vector<std::uint32_t>& permille = flags.permille;
    if (std::accumulate(permille.begin(), permille.end(), std::uint64_t{0}) != kPermille) {
      return UsageError(output, "--permille: the three numbers must add up to 1000");
    }
    v1::SplitFractions& fractions = *request.mutable_fractions();
    fractions.set_train_permille(permille[0]);
    fractions.set_val_permille(permille[1]);
    fractions.set_test_permille(permille[2]);
    fractions.set_seed(flags.seed);
    return Derive(std::move(request), global, output);
  }
  absl::StatusOr<ingest::SplitLists> lists = ingest::ReadSplitFile(flags.file, {});
  if (!lists.ok()) return DataError(output, lists.status());
  v1::SplitByIds& ids = *request.mutable_by_ids();
  ids.mutable_train()->Add(lists->train.begin(), lists->train.end());
  ids.mutable_val()->Add(lists->val.begin(), lists->val.end());
  ids.mutable_test()->Add(lists->test.begin(), lists->test.end());
  return Derive(std::move(request), global, output);
}

Json ToJson(const v1::DeleteDatasetResponse& response) {
  Json versions = Json::array();
  for (const v1::DeletedVersion& version : response.versions()) {
    versions.push_back({{"dataset", version.dataset()},
                        {"graphs", version.graphs()},
                        {"bytes", version.bytes()},
                        {"running_runs", Json(version.running_runs())},
                        {"reclaimed", version.reclaimed()}});
  }
  return {{"versions", versions}, {"current_version", response.current_version()}};
}

std::string Describe(const v1::DeletedVersion& version) {
  std::string text = absl::StrCat(version.dataset(), ": ", Count(version.graphs()), " graphs, ",
                                  FormatBytes(static_cast<double>(version.bytes())), "\n");
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
  return absl::StrCat(text, NameOf(flags.dataset), " is ", NameOf(flags.dataset), "@",
                      response.current_version(), " now\n");
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
  output.Print(ToJson(*deleted), Outcome(flags, *deleted));
  return ExitCode::kDone;
}

void AddDerive(CLI::App& dataset, Invocation& invocation) {
  CLI::App* command = AddCommand(dataset, "derive", "Makes a data set with other edges out of a stored one",
                                 {"packtrain dataset derive qm9 --edges radius:5 --name qm9-r5",
                                  "packtrain dataset derive qm9 --edges knn:24 --name qm9-k24"});
  const auto flags = std::make_shared<DeriveFlags>();
  command->add_option("DATASET", flags->dataset, "NAME or NAME@VERSION")->required();
  command->add_option("--edges", flags->edges, "Edges: full, radius:R[:MAX] or knn:K, as those of import")
      ->required()
      ->check(CLI::Validator(CheckEdges, ""))
      ->option_text("SPEC");
  command->add_option("--name", flags->name, "Name of the new data set; its splits are the same")
      ->required()
      ->option_text("NEW");
  OnChosen(*command, invocation, [flags](const GlobalOptions& global, Output& output) {
    v1::DeriveDatasetRequest request;
    request.set_dataset(flags->dataset);
    request.set_name(flags->name);
    request.set_edges(flags->edges);
    return Derive(std::move(request), global, output);
  });
}

void AddSplit(CLI::App& dataset, Invocation& invocation) {
  CLI::App* command = AddCommand(dataset, "split", "Makes a new version of a data set, with other splits",
                                 {"packtrain dataset split qm9 --permille 800,100,100 --seed 7",
                                  "packtrain dataset split qm9 --file splits.txt"});
  const auto flags = std::make_shared<SplitFlags>();
  command->add_option("DATASET", flags->dataset, "NAME or NAME@VERSION")->required();
  CLI::Option_group* how = command->add_option_group("how");
  CLI::Option* permille =
      how->add_option("--permille", flags->permille, "Random split into train, val and test")
          ->delimiter(',')
          ->expected(3)
          ->check(base::CountBetween(0, kPermille))
          ->allow_extra_args(false)
          ->option_text("800,100,100");
  how->add_option("--file", flags->file, "Split by ids: lines `train ID`, `val ID`, `test ID`")
      ->option_text("IDS");
  how->require_option(1);
  command->add_option("--seed", flags->seed, "Seed of the random split (0)")
      ->check(base::CountBetween(0, std::numeric_limits<std::uint32_t>::max()))
      ->needs(permille)
      ->option_text("S");
  OnChosen(*command, invocation,
           [flags](const GlobalOptions& global, Output& output) { return Split(*flags, global, output); });
}

void AddDelete(CLI::App& dataset, Invocation& invocation) {
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
  OnChosen(*command, invocation,
           [flags](const GlobalOptions& global, Output& output) { return Delete(*flags, global, output); });
}

}  // namespace

void AddDatasetChangeCommands(CLI::App& dataset, Invocation& invocation) {
  AddDerive(dataset, invocation);
  AddSplit(dataset, invocation);
  AddDelete(dataset, invocation);
}

}  // namespace packtrain::cli
