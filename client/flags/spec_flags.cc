#include "client/flags/spec_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/flags/counted_word.h"
#include "proto/base/flag_checks.h"

namespace packtrain::client {
namespace {

constexpr char kGroup[] = "Batches";

// What the planner takes.
constexpr std::uint32_t kMaxBatchGraphs = 1u << 24;
constexpr std::uint32_t kMaxSlots = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kMaxLookahead = 4096;
constexpr std::uint32_t kMaxCostCoefficient = 1'000'000;

CLI::Validator FieldFrom(std::uint32_t least) {
  return base::CountBetween(least, std::numeric_limits<std::uint32_t>::max());
}

// One of `words`, or `counted` with its number.
CLI::Validator WordOrCounted(const std::vector<std::string>& words, const CountedWord& counted) {
  const std::string known = absl::StrJoin(words, ", ");
  return CLI::Validator(
      [words, counted, known](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end() || CountIn(text, counted))
          return std::string();
        return absl::StrCat("'", text, "' is none of ", known, " and ", Describe(counted));
      },
      absl::StrCat("{", absl::StrJoin(words, ","), ",", counted.word, ":K}"));
}

void AddBudgetFlags(CLI::App& app, BatchSpec& spec, bool required) {
  const CLI::Validator batch_graphs = base::CountBetween(1, kMaxBatchGraphs);
  app.add_option("--policy", spec.policy, "Which graphs go together: static, dynamic, packed, tuple")
      ->check(CLI::IsMember({"static", "dynamic", "packed", "tuple"}))
      ->required(required)
      ->group(kGroup);
  app.add_option("--graphs", spec.graphs, "Real graphs aimed at in a batch (G)")
      ->check(batch_graphs)
      ->required(required)
      ->group(kGroup);
  app.add_option("--max-graphs", spec.max_graphs,
                 "Most real graphs in a batch (M) [G; packed, tuple: ceil(5 (G+1) / 4)]")
      ->check(batch_graphs)
      ->group(kGroup);
  app.add_option(
         "--pad", spec.pad,
         "Padded shape of a static batch: none, multiple, pow2, constant, ladder:K (K shapes) [multiple]")
      ->check(WordOrCounted({"none", "multiple", "pow2", "constant"}, kLadderPad))
      ->group(kGroup);
  app.add_option("--nodes", spec.nodes, "Node slots of a budgeted batch (N) [from the sizes]")
      ->check(base::CountBetween(2, kMaxSlots))
      ->group(kGroup);
  app.add_option("--edges", spec.edges, "Edge slots of a budgeted batch (E) [from the sizes]")
      ->check(base::CountBetween(1, kMaxSlots))
      ->group(kGroup);
  app.add_option("--budget-sample", spec.budget_sample, "Graphs that a budget is derived from [all]")
      ->check(FieldFrom(1))
      ->group(kGroup);
  app.add_option("--lookahead", spec.lookahead, "Graphs that wait to be packed [64]")
      ->check(base::CountBetween(1, kMaxLookahead))
      ->group(kGroup);
}

void AddBalanceFlags(CLI::App& app, BatchSpec& spec) {
  app.add_option("--balance", spec.balance, "Even out the ranks of a step: none, cost")
      ->check(CLI::IsMember({"none", "cost"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option_function<std::vector<std::uint32_t>>(
         "--cost",
         [&spec](const std::vector<std::uint32_t>& given) {
           spec.cost = {.graph = given[0], .node = given[1], .edge = given[2]};
         },
         "What a graph, a node and an edge cost, for --balance cost and --pad ladder")
      ->delimiter(',')
      ->expected(3)
      ->check(base::CountBetween(0, kMaxCostCoefficient))
      ->allow_extra_args(false)
      ->option_text("0,1,1")
      ->group(kGroup);
}

void AddOrderFlags(CLI::App& app, BatchSpec& spec) {
  app.add_option("--order", spec.order,
                 "Order of an epoch: full (shuffled), none, window:K (shuffled in windows of K graphs)")
      ->check(WordOrCounted({"full", "none"}, kWindowOrder))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--seed", spec.seed, "Seed of the order")
      ->check(FieldFrom(0))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--split", spec.split, "all, train, val, test [train where there is one, else all]")
      ->check(CLI::IsMember({"all", "train", "val", "test"}))
      ->group(kGroup);
  app.add_option("--oversize", spec.oversize, "A graph above the budget: error, alone, skip")
      ->check(CLI::IsMember({"error", "alone", "skip"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_flag("--drop-last", spec.drop_last, "Leave out a last step that cannot fill every rank")
      ->group(kGroup);
}

}  // namespace

void AddSpecFlags(CLI::App& app, SpecFlags& flags, const SpecFlagChoice& choice) {
  AddBudgetFlags(app, flags.spec, choice.required);
  AddOrderFlags(app, flags.spec);
  AddBalanceFlags(app, flags.spec);
  if (choice.epoch) {
    app.add_option("--epoch", flags.epoch, "Epoch, from 0")
        ->check(base::CountFrom(0))
        ->capture_default_str()
        ->group(kGroup);
  }
  if (choice.world_size) {
    app.add_option("--world-size", flags.world_size, "Number of ranks that share an epoch")
        ->check(FieldFrom(1))
        ->capture_default_str()
        ->group(kGroup);
  }
}

}  // namespace packtrain::client
