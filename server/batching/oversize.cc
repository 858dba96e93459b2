#include "server/batching/oversize.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/batching/padding_budget.h"
#include "server/batching/size_totals.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

std::uint64_t Load(const GraphSizes& sizes, std::uint32_t graph) {
  return std::uint64_t{sizes.n_node[graph]} + sizes.n_edge[graph];
}

std::string NameOf(std::uint32_t graph, const PlanRequest& request) {
  return request.graph_name ? request.graph_name(graph) : absl::StrCat("graph ", graph);
}

std::string Describe(const OversizeGraphs& oversize, const PaddingBudget& budget, const PlanRequest& request) {
  return absl::StrCat("graphs above the budget of --nodes ", budget.nodes,
                      " (one of them padding) and --edges ", budget.edges, ": ", oversize.count, " of ",
                      request.split.size(), "; the largest is ", NameOf(oversize.largest, request), " with ",
                      request.sizes.n_node[oversize.largest], " nodes and ",
                      request.sizes.n_edge[oversize.largest], " edges");
}

absl::Status RefuseOversize(const std::string& description, const PlanRequest& request) {
  const SizeTotals totals = MeasureSizes(request.sizes, request.split);
  return absl::FailedPreconditionError(absl::StrCat(
      description, "; a budget of at least --nodes ", std::uint64_t{totals.max_node} + 1, " --edges ",
      totals.max_edge, " would hold every graph; or choose --oversize alone or --oversize skip"));
}

absl::Status CheckAlone(const PlanRequest& request) {
  const SizeTotals totals = MeasureSizes(request.sizes, request.split);
  const std::uint64_t slots = std::max(UpTo64(std::uint64_t{totals.max_node} + 1), UpTo64(totals.max_edge));
  if (slots <= wire::kMaxSlots) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "a graph of ", totals.max_node, " nodes or ", totals.max_edge, " edges does not fit a batch of at most ",
      wire::kMaxSlots, " slots even with --oversize alone; choose --oversize skip"));
}

}  // namespace

OversizeGraphs FindOversize(const PaddingBudget& budget, const GraphSizes& sizes,
                            std::span<const std::uint32_t> split) {
  OversizeGraphs found;
  for (const std::uint32_t graph : split) {
    if (budget.Holds(sizes.n_node[graph], sizes.n_edge[graph])) continue;
    if (found.count == 0 || Load(sizes, graph) > Load(sizes, found.largest)) found.largest = graph;
    if (found.listed.size() < kListedOversizeGraphs) found.listed.push_back(graph);
    ++found.count;
  }
  return found;
}

absl::Status CheckOversize(const OversizeGraphs& oversize, const PaddingBudget& budget,
                           const PlanRequest& request) {
  if (oversize.count == 0) return absl::OkStatus();
  const wire::Oversize action = request.spec.oversize;
  if (action == wire::Oversize::kAlone) return CheckAlone(request);
  if (action == wire::Oversize::kSkip && oversize.count < request.split.size()) return absl::OkStatus();
  const std::string description = Describe(oversize, budget, request);
  if (action == wire::Oversize::kError) return RefuseOversize(description, request);
  return absl::FailedPreconditionError(absl::StrCat(description, "; --oversize skip would leave no graph"));
}

wire::Shape OversizeShape(const wire::Shape& real) {
  return {2, static_cast<std::uint32_t>(UpTo64(std::uint64_t{real.nodes} + 1)),
          static_cast<std::uint32_t>(UpTo64(real.edges))};
}

}  // namespace packtrain::batching
