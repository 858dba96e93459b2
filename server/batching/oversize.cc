#include "server/batching/oversize.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/shape.h"
#include "server/batching/size_totals.h"

namespace packtrain::batching {
namespace {

std::uint64_t Load(const GraphSizes& sizes, std::uint32_t graph) {
  return std::uint64_t{sizes.n_node[graph]} + sizes.n_edge[graph];
}

OversizeGraphs FindOversize(const GraphLimits& limits, const PlanRequest& request) {
  OversizeGraphs found;
  for (const std::uint32_t graph : request.split) {
    if (limits.Holds(graph)) continue;
    const bool is_largest = Load(request.sizes, graph) > Load(request.sizes, found.largest);
    if (found.count == 0 || is_largest) found.largest = graph;
    if (found.listed.size() < kListedOversizeGraphs) found.listed.push_back(graph);
    ++found.count;
  }
  return found;
}

std::string NameOf(std::uint32_t graph, const PlanRequest& request) {
  return request.graph_name ? request.graph_name(graph) : absl::StrCat("graph ", graph);
}

std::string Describe(const OversizeGraphs& oversize, const GraphLimits& limits, const PlanRequest& request) {
  return absl::StrCat("graphs above ", limits.Text(), ": ", oversize.count, " of ", request.split.size(),
                      "; the largest is ", NameOf(oversize.largest, request), " with ",
                      limits.SizeText(oversize.largest));
}

absl::Status CheckAlone(const GraphLimits& limits, const PlanRequest& request) {
  if (limits.AloneSlots() <= wire::kMaxSlots) return absl::OkStatus();
  const SizeTotals totals = MeasureSizes(request.sizes, request.split);
  return absl::FailedPreconditionError(absl::StrCat(
      "a graph of ", totals.max_node, " nodes or ", totals.max_edge, " edges does not fit a batch of at most ",
      wire::kMaxSlots, " slots even with --oversize alone; choose --oversize skip"));
}

absl::Status Check(const OversizeGraphs& oversize, const GraphLimits& limits, const PlanRequest& request) {
  if (oversize.count == 0) return absl::OkStatus();
  const wire::Oversize action = request.spec.oversize;
  if (action == wire::Oversize::kAlone) return CheckAlone(limits, request);
  if (action == wire::Oversize::kSkip && oversize.count < request.split.size()) return absl::OkStatus();
  const std::string description = Describe(oversize, limits, request);
  if (action == wire::Oversize::kSkip) {
    return absl::FailedPreconditionError(absl::StrCat(description, "; --oversize skip would leave no graph"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(description, "; ", limits.Enough(),
                   " would hold every graph; or choose --oversize alone or --oversize skip"));
}

}  // namespace

absl::StatusOr<OversizeGraphs> SettleOversize(const GraphLimits& limits, const PlanRequest& request) {
  OversizeGraphs oversize = FindOversize(limits, request);
  if (oversize.count > 0 && request.on_oversize) request.on_oversize(oversize.count);
  ABSL_RETURN_IF_ERROR(Check(oversize, limits, request));
  return oversize;
}

}  // namespace packtrain::batching
