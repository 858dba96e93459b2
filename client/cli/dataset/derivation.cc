#include "client/cli/dataset/derivation.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/dataset/empty_splits.h"
#include "client/cli/dataset/split_counts.h"
#include "client/cli/service_call.h"
#include "proto/wire/full_name.h"

namespace packtrain::cli {
namespace {

std::string Count(std::uint64_t value) { return FormatCount(static_cast<double>(value)); }

}  // namespace

absl::StatusOr<ExitCode> Derive(v1::DeriveDatasetRequest request, const GlobalOptions& global, Output& output) {
  request.set_command(global.command_line);
  const absl::StatusOr<v1::DeriveDatasetResponse> response =
      CallService(global, [&](client::ServiceClient& services) { return services.DeriveDataset(request); });
  if (!response.ok()) return DataError(output, response.status());
  const v1::Dataset& dataset = response->dataset();
  const v1::SplitFractions& fractions = request.fractions();
  const std::vector<std::uint32_t> permille = {fractions.train_permille(), fractions.val_permille(),
                                               fractions.test_permille()};
  if (request.split_case() != v1::DeriveDatasetRequest::SPLIT_NOT_SET) {
    for (const std::string& note :
         NotesOfEmptySplits(dataset, request.has_fractions() ? permille : std::vector<std::uint32_t>())) {
      output.Note(note);
    }
  }
  const SplitCounts splits = SplitsOf(dataset);
  Json json = {{"dataset", dataset.name()},          {"version", dataset.version()},
               {"unchanged", response->unchanged()}, {"derived_from", dataset.lineage().derived_from()},
               {"graphs", dataset.graphs()},         {"edges", dataset.edges().total()}};
  AddSplits(splits, &json);
  output.Print(json,
               absl::StrCat(wire::FullName(dataset), response->unchanged() ? " was there already\n" : "\n",
                            Count(dataset.graphs()), " graphs, ", Count(dataset.edges().total()), " edges\n",
                            TextOf(splits)));
  return ExitCode::kDone;
}

}  // namespace packtrain::cli
