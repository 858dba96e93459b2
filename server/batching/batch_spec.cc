#include "server/batching/batch_spec.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/policy_kind.h"
#include "server/batching/slots.h"

namespace packtrain::batching {
namespace {

// Balance moves whole batches, and shuffles the steps that it makes of them.
bool ShufflesSteps(const BatchSpec& spec) {
  return spec.balance == Balance::kCost && KindOf(spec.policy).takes.budget;
}

// The seed decides nothing where nothing is shuffled.
std::string OrderText(const BatchSpec& spec) {
  const std::string seed = absl::StrCat(" seed=", spec.seed);
  switch (spec.order) {
    case Order::kNone:
      return absl::StrCat("order=none", ShufflesSteps(spec) ? seed : "");
    case Order::kFull:
      return absl::StrCat("order=full", seed);
    case Order::kWindow:
      return absl::StrCat("order=window:", *spec.window, seed);
  }
  std::abort();
}

std::string BalanceText(const BatchSpec& spec) {
  if (spec.balance == Balance::kNone) return "";
  const CostCoefficients cost = spec.cost.value_or(CostCoefficients());
  return absl::StrCat(" balance=cost cost=", cost.graph, ",", cost.node, ",", cost.edge);
}

absl::Status CheckOrder(const BatchSpec& spec) {
  if ((spec.order == Order::kWindow) != spec.window.has_value()) {
    return absl::InvalidArgumentError("--order window:K and its number K go together");
  }
  if (spec.window.value_or(1) >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError("--order window:0 is out of range: window:K takes K from 1 to 4294967295");
}

absl::Status CheckGraphCount(const char* flag, std::uint32_t graphs) {
  if (graphs >= 1 && graphs <= kMaxBatchGraphs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", graphs, " is out of range: 1 to ", kMaxBatchGraphs));
}

absl::Status CheckBalance(const BatchSpec& spec) {
  if (!spec.cost) return absl::OkStatus();
  if (spec.balance == Balance::kNone && spec.pad != Pad::kLadder) {
    return absl::InvalidArgumentError("--cost decides nothing without --balance cost or --pad ladder:K");
  }
  const std::uint32_t most = std::max({spec.cost->graph, spec.cost->node, spec.cost->edge});
  if (most == 0) return absl::InvalidArgumentError("--cost 0,0,0 tells no graph from another");
  if (most <= kMaxCostCoefficient) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--cost ", most, " is out of range: 0 to ", kMaxCostCoefficient));
}

struct OptionUse {
  const char* flag;
  bool given;
  bool taken;
  const char* why_not;
};

// INVALID_ARGUMENT: an option that only other policies take.
absl::Status CheckOptions(const BatchSpec& spec) {
  const PolicyKind& kind = KindOf(spec.policy);
  const OptionUse uses[] = {
      {"--pad", spec.pad || spec.rungs, kind.takes.pad, "its shape is the budget"},
      {"--max-graphs", MaxGraphs(spec) != spec.graphs, kind.takes.budget, "--graphs says how many"},
      {"--nodes", spec.nodes.has_value(), kind.takes.budget, "its shapes follow --pad"},
      {"--edges", spec.edges.has_value(), kind.takes.budget, "its shapes follow --pad"},
      {"--budget-sample", spec.budget_sample.has_value(), kind.takes.budget, "it has no budget"},
      {"--oversize", spec.oversize != Oversize::kError, kind.takes.budget, "it has no budget"},
      {"--lookahead", spec.lookahead.has_value(), kind.takes.lookahead, "packed alone looks ahead"},
  };
  const auto refused = std::ranges::find_if(uses, [](const OptionUse& use) { return use.given && !use.taken; });
  if (refused == std::end(uses)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(refused->flag, " does not go with --policy ", kind.name, ": ", refused->why_not));
}

}  // namespace

absl::Status CheckSpec(const BatchSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckGraphCount("--graphs", spec.graphs));
  ABSL_RETURN_IF_ERROR(CheckGraphCount("--max-graphs", MaxGraphs(spec)));
  ABSL_RETURN_IF_ERROR(CheckBalance(spec));
  ABSL_RETURN_IF_ERROR(CheckOrder(spec));
  ABSL_RETURN_IF_ERROR(CheckOptions(spec));
  return KindOf(spec.policy).check(spec);
}

std::string CanonicalText(const BatchSpec& spec) {
  const PolicyKind& kind = KindOf(spec.policy);
  return absl::StrCat("plan_version=", kPlanVersion, " policy=", kind.name, " graphs=", spec.graphs,
                      " max_graphs=", MaxGraphs(spec), " ", kind.canonical_text(spec), " ", OrderText(spec),
                      " drop_last=", spec.drop_last ? 1 : 0, BalanceText(spec));
}

}  // namespace packtrain::batching
