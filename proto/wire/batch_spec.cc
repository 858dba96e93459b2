#include "proto/wire/batch_spec.h"

#include "absl/strings/str_cat.h"

namespace packtrain::wire {
namespace {

std::string TextOf(const std::optional<std::uint32_t>& number) { return number ? absl::StrCat(*number) : ""; }

std::string TextOf(const std::optional<CostCoefficients>& cost) {
  return cost ? absl::StrCat(cost->graph, ",", cost->node, ",", cost->edge) : "";
}

}  // namespace

absl::Status CheckPolicyGiven(const BatchSpec& spec) {
  if (spec.policy) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--policy is missing; known are ", KnownWords(kPolicyWords)));
}

std::string PolicyText(const BatchSpec& spec) { return spec.policy ? WordOf(*spec.policy, kPolicyWords) : ""; }

std::string PadText(const BatchSpec& spec) {
  return spec.pad ? WithNumber(WordOf(*spec.pad, kPadWords), spec.ladder_rungs) : "";
}

std::string OrderText(const BatchSpec& spec) {
  return WithNumber(WordOf(spec.order, kOrderWords), spec.order_window);
}

std::string SkipAboveText(const BatchSpec& spec) {
  return spec.skip_above ? WithNumber(WordOf(*spec.skip_above, kSkipAboveWords), spec.skip_above_limit) : "";
}

std::vector<OptionText> OptionTexts(const BatchSpec& spec) {
  return {{"--policy", PolicyText(spec)},
          {"--pad", PadText(spec)},
          {"--graphs", absl::StrCat(spec.graphs)},
          {"--max-graphs", TextOf(spec.max_graphs)},
          {"--nodes", TextOf(spec.nodes)},
          {"--edges", TextOf(spec.edges)},
          {"--order", OrderText(spec)},
          {"--seed", absl::StrCat(spec.seed)},
          {"--split", spec.split},
          {"--oversize", WordOf(spec.oversize, kOversizeWords)},
          {"--drop-last", spec.drop_last ? "yes" : "no"},
          {"--budget-sample", TextOf(spec.budget_sample)},
          {"--balance", WordOf(spec.balance, kBalanceWords)},
          {"--cost", TextOf(spec.cost)},
          {"--lookahead", TextOf(spec.lookahead)},
          {"--blocks", TextOf(spec.blocks)},
          {"--block-nodes", TextOf(spec.block_nodes)},
          {"--skip-above", SkipAboveText(spec)}};
}

const char* SizeFlagsOf(const BatchSpec& spec) {
  if (spec.policy == Policy::kStatic) return "--graphs and --pad";
  if (spec.policy == Policy::kSupergraph) return "--blocks and --block-nodes";
  return "--graphs, --nodes and --edges";
}

}  // namespace packtrain::wire
