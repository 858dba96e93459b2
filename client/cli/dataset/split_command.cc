// packtrain dataset split
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/dataset/derivation.h"
#include "client/ingest/split_file.h"
#include "proto/base/flag_checks.h"

namespace packtrain::cli {
namespace {

constexpr std::uint32_t kPermille = 1000;

struct SplitFlags {
  std::string dataset;
  std::vector<std::uint32_t> permille;
  std::uint32_t seed = 0;
  std::string file;
};

absl::StatusOr<ExitCode> Split(const SplitFlags& flags, const GlobalOptions& global, Output& output) {
  v1::DeriveDatasetRequest request;
  request.set_dataset(flags.dataset);
  request.set_name(flags.dataset.substr(0, flags.dataset.find('@')));
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

}  // namespace

void AddDatasetSplit(CLI::App& dataset, Invocation& invocation) {
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
  OnChosen(*command, invocation, WithFlags(flags, Split));
}

}  // namespace packtrain::cli
