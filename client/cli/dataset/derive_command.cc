// packtrain dataset derive
#include <memory>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/dataset/derivation.h"
#include "client/cli/dataset/renumber_flag.h"
#include "proto/wire/edge_spec.h"

namespace packtrain::cli {
namespace {

struct DeriveFlags {
  std::string dataset;
  std::string name;
  std::string edges;
  v1::Renumbering renumber = v1::RENUMBERING_UNSPECIFIED;
};

std::string CheckEdges(const std::string& text) {
  return std::string(wire::ParseEdgeSpec(text).status().message());
}

absl::StatusOr<ExitCode> DeriveEdges(const DeriveFlags& flags, const GlobalOptions& global, Output& output) {
  if (flags.edges.empty() && flags.renumber == v1::RENUMBERING_UNSPECIFIED) {
    return UsageError(output, "--edges or --renumber is required");
  }
  v1::DeriveDatasetRequest request;
  request.set_dataset(flags.dataset);
  request.set_name(flags.name);
  request.set_edges(flags.edges);
  request.set_renumber(flags.renumber);
  return Derive(std::move(request), global, output);
}

}  // namespace

void AddDatasetDerive(CLI::App& dataset, Invocation& invocation) {
  CLI::App* command =
      AddCommand(dataset, "derive", "Makes a data set with other edges, or renumbered, out of a stored one",
                 {"packtrain dataset derive qm9 --edges radius:5 --name qm9-r5",
                  "packtrain dataset derive qm9 --edges knn:24 --name qm9-k24",
                  "packtrain dataset derive mols --renumber rcm --name mols-rcm"});
  const auto flags = std::make_shared<DeriveFlags>();
  command->add_option("DATASET", flags->dataset, "NAME or NAME@VERSION")->required();
  command
      ->add_option(
          "--edges", flags->edges,
          "Edges: full, radius:R[:MAX] or knn:K, as those of import (default: those that it has); nodes that "
          "were renumbered get the numbers of their source back")
      ->check(CLI::Validator(CheckEdges, ""))
      ->option_text("SPEC");
  AddRenumberFlag(*command, flags->renumber);
  command->add_option("--name", flags->name, "Name of the new data set; its splits are the same")
      ->required()
      ->option_text("NEW");
  OnChosen(*command, invocation, WithFlags(flags, DeriveEdges));
}

}  // namespace packtrain::cli
