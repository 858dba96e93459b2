#include "server/batching/padding_budget.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/policy_kind.h"
#include "server/batching/size_totals.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

std::uint64_t DeriveSlots(const wire::BatchSpec& spec, std::uint64_t total, std::uint32_t max,
                          std::uint64_t n) {
  const std::uint64_t mean_batch = MulDiv(total, std::uint64_t{spec.graphs} + 1, n);
  return std::max(NextMultipleOf64(mean_batch), NextMultipleOf64(max));
}

absl::Status CheckGiven(const char* flag, std::optional<std::uint32_t> value, std::uint32_t min) {
  if (!value || (*value >= min && *value <= wire::kMaxSlots)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", *value, " is out of range: ", min, " to ", wire::kMaxSlots));
}

// `max` is the greatest size of a graph.
absl::StatusOr<std::uint32_t> CheckDerived(const char* flag, std::uint64_t slots, std::uint32_t max,
                                           std::uint32_t graphs) {
  if (slots <= wire::kMaxSlots) return static_cast<std::uint32_t>(slots);
  const bool one_is_too_large = NextMultipleOf64(max) > wire::kMaxSlots;
  return absl::FailedPreconditionError(absl::StrCat(
      "the budget for --graphs ", graphs, " would be ", flag, " ", slots, "; the most is ", wire::kMaxSlots,
      one_is_too_large ? ": the largest graph alone takes more; give --nodes and --edges, and leave it "
                         "out with --oversize skip"
                       : ": lower --graphs"));
}

}  // namespace

absl::Status CheckBudget(const wire::BatchSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckGiven("--nodes", spec.nodes, 2));
  ABSL_RETURN_IF_ERROR(CheckGiven("--edges", spec.edges, 1));
  if (spec.budget_sample == 0u) return absl::InvalidArgumentError("--budget-sample must be at least 1");
  if (spec.budget_sample && spec.nodes && spec.edges) {
    return absl::InvalidArgumentError("--budget-sample decides nothing where --nodes and --edges are given");
  }
  return absl::OkStatus();
}

absl::StatusOr<PaddingBudget> ResolveBudget(const wire::BatchSpec& spec, const GraphSizes& sizes,
                                            std::span<const std::uint32_t> split) {
  const std::size_t count = std::min<std::size_t>(split.size(), spec.budget_sample.value_or(~0u));
  const SizeTotals totals = MeasureSizes(sizes, split.first(count));
  const std::uint64_t derived_nodes = DeriveSlots(spec, totals.nodes, totals.max_node, count);
  const std::uint64_t derived_edges = DeriveSlots(spec, totals.edges, totals.max_edge, count);
  ABSL_ASSIGN_OR_RETURN(const auto nodes, CheckDerived("--nodes", spec.nodes ? *spec.nodes : derived_nodes,
                                                       totals.max_node, spec.graphs));
  ABSL_ASSIGN_OR_RETURN(const auto edges, CheckDerived("--edges", spec.edges ? *spec.edges : derived_edges,
                                                       totals.max_edge, spec.graphs));
  return PaddingBudget{MaxGraphs(spec), nodes, edges};
}

}  // namespace packtrain::batching
