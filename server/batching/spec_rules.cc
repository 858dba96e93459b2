#include "server/batching/spec_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/policy_kind.h"

namespace packtrain::batching {
namespace {

// Balance moves whole batches, and shuffles the steps that it makes of them.
bool ShufflesSteps(const wire::BatchSpec& spec) {
  return spec.balance == wire::Balance::kCost && KindOf(spec).has_budget;
}

std::string GraphsPart(const wire::BatchSpec& spec) {
  return KindOf(spec).reads_graphs ? absl::StrCat(" graphs=", spec.graphs) : "";
}

// The seed decides nothing where nothing is shuffled.
std::string OrderPart(const wire::BatchSpec& spec) {
  const bool shuffles = spec.order != wire::Order::kNone || ShufflesSteps(spec);
  return absl::StrCat("order=", wire::OrderText(spec), shuffles ? absl::StrCat(" seed=", spec.seed) : "");
}

std::string SlicePart(const wire::BatchSpec& spec) {
  return spec.skip_above ? absl::StrCat(" skip_above=", wire::SkipAboveText(spec)) : "";
}

std::string BalancePart(const wire::BatchSpec& spec) {
  if (spec.balance == wire::Balance::kNone) return "";
  const wire::CostCoefficients cost = spec.cost.value_or(wire::CostCoefficients());
  return absl::StrCat(" balance=cost cost=", cost.graph, ",", cost.node, ",", cost.edge);
}

absl::Status CheckOrder(const wire::BatchSpec& spec) {
  if ((spec.order == wire::Order::kWindow) != spec.order_window.has_value()) {
    return absl::InvalidArgumentError("--order window:K and its number K go together");
  }
  if (spec.order_window.value_or(1) >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError("--order window:0 is out of range: window:K takes K from 1 to 4294967295");
}

absl::Status CheckSkipAbove(const wire::BatchSpec& spec) {
  if (spec.skip_above.has_value() != spec.skip_above_limit.has_value()) {
    return absl::InvalidArgumentError("--skip-above and its limit K go together");
  }
  if (spec.skip_above_limit.value_or(1) >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--skip-above ", wire::SkipAboveText(spec),
                   " is out of range: ", wire::KnownWords(wire::kSkipAboveWords)));
}

absl::Status CheckGraphCount(const char* flag, std::uint32_t graphs) {
  if (graphs >= 1 && graphs <= wire::kMaxBatchGraphs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", graphs, " is out of range: 1 to ", wire::kMaxBatchGraphs));
}

absl::Status CheckCost(const wire::BatchSpec& spec) {
  if (!spec.cost) return absl::OkStatus();
  if (spec.balance == wire::Balance::kNone && spec.pad != wire::Pad::kLadder) {
    return absl::InvalidArgumentError("--cost decides nothing without --balance cost or --pad ladder:K");
  }
  const std::uint32_t max = std::max({spec.cost->graph, spec.cost->node, spec.cost->edge});
  if (max == 0) return absl::InvalidArgumentError("--cost 0,0,0 tells no graph from another");
  if (max <= wire::kMaxCostCoefficient) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--cost ", max, " is out of range: 0 to ", wire::kMaxCostCoefficient));
}

}  // namespace

absl::Status CheckSpec(const wire::BatchSpec& spec) {
  ABSL_RETURN_IF_ERROR(wire::CheckPolicyGiven(spec));
  if (KindOf(spec).reads_graphs) {
    ABSL_RETURN_IF_ERROR(CheckGraphCount("--graphs", spec.graphs));
  }
  ABSL_RETURN_IF_ERROR(CheckGraphCount("--max-graphs", MaxGraphs(spec)));
  ABSL_RETURN_IF_ERROR(CheckCost(spec));
  ABSL_RETURN_IF_ERROR(CheckOrder(spec));
  ABSL_RETURN_IF_ERROR(CheckSkipAbove(spec));
  ABSL_RETURN_IF_ERROR(RefuseOptionsOfOthers(spec));
  return KindOf(spec).check(spec);
}

std::string CanonicalText(const wire::BatchSpec& spec) {
  return absl::StrCat("plan_version=", kPlanVersion, " policy=", wire::PolicyText(spec), GraphsPart(spec),
                      " max_graphs=", MaxGraphs(spec), " ", KindOf(spec).canonical_text(spec), " ",
                      OrderPart(spec), " drop_last=", spec.drop_last ? 1 : 0, BalancePart(spec),
                      SlicePart(spec));
}

}  // namespace packtrain::batching
