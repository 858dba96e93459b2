#include "server/batching/supergraph_table.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/policy_kind.h"
#include "server/batching/sliced_request.h"
#include "server/batching/spec_rules.h"
#include "server/batching/split_order.h"
#include "server/batching/supergraph_policy.h"

namespace packtrain::batching {
namespace {

struct Measure {
  LimitBy by = LimitBy::kNodes;
  std::span<const std::uint32_t> of_graph;
};

// One epoch of one split, tried under one limit after another.
class LimitedEpochs {
 public:
  explicit LimitedEpochs(const PlanRequest& request)
      : sizes_(request.sizes),
        budget_(SupergraphBudget(request.spec)),
        order_(OrderSplit(request.spec, request.epoch, request.split)) {}

  // Graphs that a limit keeps.
  std::uint64_t Kept(const Measure& measure, std::uint32_t limit) const {
    std::uint64_t kept = 0;
    for (const std::uint32_t graph : order_) kept += Keeps(measure, limit, graph) ? 1 : 0;
    return kept;
  }

  SupergraphRow Row(const Measure& measure, std::uint32_t limit) const {
    std::uint64_t kept = 0;
    std::uint64_t supergraphs = 0;
    wire::Shape open;
    for (std::size_t position = 0; position < order_.size(); ++position) {
      if (position % kChunkGraphs == 0) open = {};
      const std::uint32_t graph = order_[position];
      if (!Keeps(measure, limit, graph)) continue;
      ++kept;
      const std::uint32_t n_node = sizes_.n_node[graph], n_edge = sizes_.n_edge[graph];
      if (open.graphs == 0 || !budget_.HasRoom(open, n_node, n_edge)) {
        ++supergraphs;
        open = {};
      }
      open = {open.graphs + 1, open.nodes + n_node, open.edges + n_edge};
    }
    return {.by = measure.by,
            .limit = limit,
            .share = static_cast<double>(kept) / static_cast<double>(order_.size()),
            .graphs_per_supergraph =
                supergraphs == 0 ? 0 : static_cast<double>(kept) / static_cast<double>(supergraphs)};
  }

  // The greatest value of a graph of the split.
  std::uint32_t Max(const Measure& measure) const {
    std::uint32_t max = 0;
    for (const std::uint32_t graph : order_) max = std::max(max, measure.of_graph[graph]);
    return max;
  }

  // The least limit that keeps at least so many graphs, or as many as any limit does.
  std::uint32_t LeastLimit(const Measure& measure, std::uint64_t graphs) const {
    std::uint32_t low = 0, high = Max(measure);
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (Kept(measure, middle) >= graphs) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

 private:
  bool Keeps(const Measure& measure, std::uint32_t limit, std::uint32_t graph) const {
    return measure.of_graph[graph] <= limit && budget_.Holds(sizes_.n_node[graph], sizes_.n_edge[graph]);
  }

  const GraphSizes sizes_;
  const PaddingBudget budget_;
  const std::vector<std::uint32_t> order_;
};

// Powers of two up to the first that is at least `max`.
std::set<std::uint32_t> PowersUpTo(std::uint32_t max) {
  std::set<std::uint32_t> limits = {1};
  for (std::uint64_t limit = 1; limit < max; limits.insert(static_cast<std::uint32_t>(limit))) {
    limit = std::min<std::uint64_t>(2 * limit, 0xffffffff);
  }
  return limits;
}

absl::Status CheckSupergraph(const wire::BatchSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckSpec(spec));
  if (spec.policy == wire::Policy::kSupergraph) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--table does not go with --policy ", wire::PolicyText(spec), ": it is of supergraphs"));
}

}  // namespace

absl::StatusOr<std::vector<SupergraphRow>> TabulateSupergraphs(
    const PlanRequest& request, std::span<const std::uint32_t> bandwidth_as_read) {
  ABSL_RETURN_IF_ERROR(CheckSupergraph(request.spec));
  ABSL_RETURN_IF_ERROR(CheckSplit(request));
  ABSL_RETURN_IF_ERROR(CheckBandwidths("--policy supergraph", request));
  ABSL_ASSIGN_OR_RETURN(const SlicedRequest sliced, SlicedRequest::Create(request));
  const LimitedEpochs epochs(sliced.get());
  const std::uint32_t block_nodes = *request.spec.block_nodes;
  const Measure nodes = {LimitBy::kNodes, request.sizes.n_node};
  const Measure bandwidth = {LimitBy::kBandwidth, request.sizes.bandwidth};
  std::vector<Measure> measures = {nodes, bandwidth};
  if (!bandwidth_as_read.empty()) measures.push_back({LimitBy::kBandwidthAsRead, bandwidth_as_read});
  std::vector<SupergraphRow> rows;
  for (const Measure& measure : measures) {
    std::set<std::uint32_t> limits = PowersUpTo(epochs.Max(measure));
    limits.insert(measure.by == LimitBy::kNodes ? epochs.LeastLimit(nodes, epochs.Kept(bandwidth, block_nodes))
                                                : block_nodes);
    for (const std::uint32_t limit : limits) rows.push_back({.by = measure.by, .limit = limit});
  }
  request.parallel_for(rows.size(), [&](std::size_t row) {
    const auto measure = std::ranges::find(measures, rows[row].by, &Measure::by);
    rows[row] = epochs.Row(*measure, rows[row].limit);
  });
  std::erase_if(rows, [](const SupergraphRow& row) { return row.graphs_per_supergraph == 0; });
  return rows;
}

}  // namespace packtrain::batching
