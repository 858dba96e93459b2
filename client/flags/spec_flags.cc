#include "client/flags/spec_flags.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/flag_checks.h"
#include "proto/wire/shape.h"

namespace packtrain::client {
namespace {

constexpr char kGroup[] = "Batches";

CLI::Validator FieldFrom(std::uint32_t min) {
  return base::CountBetween(min, std::numeric_limits<std::uint32_t>::max());
}

// One of `words`, with its number where it carries one.
template <typename Enum, std::size_t N>
CLI::Validator OneOf(const wire::Word<Enum> (&words)[N]) {
  std::vector<std::string> forms;
  bool numbered = false;
  for (const wire::Word<Enum>& word : words) {
    numbered |= word.number.max > 0;
    forms.push_back(absl::StrCat(word.text, word.number.max > 0 ? ":K" : ""));
  }
  if (!numbered) return CLI::IsMember(forms);
  return CLI::Validator(
      [&words](const std::string& text) {
        if (wire::ParseWord(text, words)) return std::string();
        return absl::StrCat("'", text, "' is none of ", wire::KnownWords(words));
      },
      absl::StrCat("{", absl::StrJoin(forms, ","), "}"));
}

// A flag whose value is one of `words`, which have static storage; `set` gets the wire::ParsedWord.
template <typename Enum, std::size_t N, typename Set>
CLI::Option* AddWordFlag(CLI::App& app, const char* flag, const wire::Word<Enum> (&words)[N], Set set,
                         const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag, [&words, set](const std::string& text) { set(*wire::ParseWord(text, words)); }, help)
      ->check(OneOf(words))
      ->group(kGroup);
}

void AddBudgetFlags(CLI::App& app, wire::BatchSpec& spec, bool required) {
  const CLI::Validator batch_graphs = base::CountBetween(1, wire::kMaxBatchGraphs);
  AddWordFlag(
      app, "--policy", wire::kPolicyWords,
      [&app, &spec](const auto& word) {
        spec.policy = word.value;
        if (word.value == wire::Policy::kSupergraph) app.get_option("--graphs")->required(false);
      },
      absl::StrCat("Which graphs go together: ", wire::KnownWords(wire::kPolicyWords)))
      ->required(required);
  app.add_option("--graphs", spec.graphs, "Real graphs aimed at in a batch (G); not read by supergraph")
      ->check(batch_graphs)
      ->required(required)
      ->group(kGroup);
  app.add_option("--max-graphs", spec.max_graphs,
                 "Most real graphs in a batch (M) [G; packed, tuple: ceil(5 (G+1) / 4); supergraph: K*S]")
      ->check(batch_graphs)
      ->group(kGroup);
  AddWordFlag(
      app, "--pad", wire::kPadWords,
      [&spec](const auto& word) {
        spec.pad = word.value;
        spec.ladder_rungs = word.number;
      },
      "Padded shape of a static batch: none, multiple, pow2, constant, ladder:K (K shapes) [multiple]");
  app.add_option("--nodes", spec.nodes, "Node slots of a budgeted batch (N) [from the sizes]")
      ->check(base::CountBetween(2, wire::kMaxSlots))
      ->group(kGroup);
  app.add_option("--edges", spec.edges, "Edge slots of a budgeted batch (E) [from the sizes]")
      ->check(base::CountBetween(1, wire::kMaxSlots))
      ->group(kGroup);
  app.add_option("--budget-sample", spec.budget_sample, "Graphs that a budget is derived from [all]")
      ->check(FieldFrom(1))
      ->group(kGroup);
  app.add_option("--lookahead", spec.lookahead, "Graphs that wait to be packed [64]")
      ->check(base::CountBetween(1, wire::kMaxLookahead))
      ->group(kGroup);
  app.add_option("--blocks", spec.blocks, "Blocks of a supergraph (K)")
      ->check(base::CountBetween(1, wire::kMaxSlots))
      ->group(kGroup);
  app.add_option("--block-nodes", spec.block_nodes,
                 "Node slots of a block (S), which is the greatest bandwidth of a graph in a supergraph")
      ->check(base::CountBetween(1, wire::kMaxSlots))
      ->group(kGroup);
}

void AddBalanceFlags(CLI::App& app, wire::BatchSpec& spec) {
  AddWordFlag(
      app, "--balance", wire::kBalanceWords, [&spec](const auto& word) { spec.balance = word.value; },
      absl::StrCat("Even out the ranks of a step: ", wire::KnownWords(wire::kBalanceWords)))
      ->default_str(wire::WordOf(spec.balance, wire::kBalanceWords));
  app.add_option_function<std::vector<std::uint32_t>>(
         "--cost",
         [&spec](const std::vector<std::uint32_t>& given) {
           spec.cost = {.graph = given[0], .node = given[1], .edge = given[2]};
         },
         "What a graph, a node and an edge cost, for --balance cost and --pad ladder")
      ->delimiter(',')
      ->expected(3)
      ->check(base::CountBetween(0, wire::kMaxCostCoefficient))
      ->allow_extra_args(false)
      ->option_text("0,1,1")
      ->group(kGroup);
}

void AddOrderFlags(CLI::App& app, wire::BatchSpec& spec) {
  AddWordFlag(
      app, "--order", wire::kOrderWords,
      [&spec](const auto& word) {
        spec.order = word.value;
        spec.order_window = word.number;
      },
      "Order of an epoch: full (shuffled), none, window:K (shuffled in windows of K graphs)")
      ->default_str(wire::OrderText(spec));
  app.add_option("--seed", spec.seed, "Seed of the order")
      ->check(FieldFrom(0))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--split", spec.split, "all, train, val, test [train where there is one, else all]")
      ->check(CLI::IsMember({"all", "train", "val", "test"}))
      ->group(kGroup);
  AddWordFlag(
      app, "--oversize", wire::kOversizeWords, [&spec](const auto& word) { spec.oversize = word.value; },
      absl::StrCat("A graph above the budget: ", wire::KnownWords(wire::kOversizeWords)))
      ->default_str(wire::WordOf(spec.oversize, wire::kOversizeWords));
  AddWordFlag(
      app, "--skip-above", wire::kSkipAboveWords,
      [&spec](const auto& word) {
        spec.skip_above = word.value;
        spec.skip_above_limit = word.number;
      },
      "Leave out graphs of more than K nodes, or of a bandwidth above K where nodes are renumbered; "
      "evaluations and predictions take all");
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
