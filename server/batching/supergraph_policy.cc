#include "server/batching/supergraph_policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/budgeted_policy.h"
#include "server/batching/size_prefetch.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

std::uint64_t SlotsOf(const wire::BatchSpec& spec) {
  return std::uint64_t{spec.blocks.value_or(1)} * spec.block_nodes.value_or(1);
}

// For a spec that passes Check.
struct Blocks {
  explicit Blocks(const wire::BatchSpec& spec)
      : budget(SupergraphBudget(spec)), count(*spec.blocks), nodes(*spec.block_nodes) {}

  bool Holds(std::uint32_t n_node, std::uint32_t n_edge, std::uint32_t bandwidth) const {
    return bandwidth <= nodes && budget.Holds(n_node, n_edge);
  }

  PaddingBudget budget;
  std::uint32_t count;
  std::uint32_t nodes;  // of a block
};

// Node slots of a block for a graph alone.
std::uint64_t BlockNodesAlone(std::uint32_t bandwidth) { return UpTo64(std::max<std::uint64_t>(bandwidth, 1)); }

std::uint64_t NodeSlotsAlone(std::uint32_t n_node, std::uint32_t bandwidth) {
  const std::uint64_t block_nodes = BlockNodesAlone(bandwidth);
  return DivideUp(n_node, block_nodes) * block_nodes;
}

class SupergraphLimits final : public GraphLimits {
 public:
  SupergraphLimits(const Blocks& blocks, const PlanRequest& request)
      : blocks_(blocks), sizes_(request.sizes), split_(request.split) {}

  bool Holds(std::uint32_t graph) const override {
    return blocks_.Holds(sizes_.n_node[graph], sizes_.n_edge[graph], sizes_.bandwidth[graph]);
  }
  std::uint64_t AloneSlots() const override {
    std::uint64_t max = 0;
    for (const std::uint32_t graph : split_) {
      if (Holds(graph)) continue;
      max = std::max(
          {max, NodeSlotsAlone(sizes_.n_node[graph], sizes_.bandwidth[graph]), UpTo64(sizes_.n_edge[graph])});
    }
    return max;
  }
  std::string Text() const override {
    return absl::StrCat("a supergraph of --blocks ", blocks_.count, " --block-nodes ", blocks_.nodes, " (",
                        blocks_.budget.nodes - 1, " nodes, bandwidth ", blocks_.nodes, ")");
  }
  std::string SizeText(std::uint32_t graph) const override {
    return absl::StrCat(sizes_.n_node[graph], " nodes, ", sizes_.n_edge[graph], " edges and bandwidth ",
                        sizes_.bandwidth[graph]);
  }
  std::string Enough() const override {
    std::uint32_t nodes = blocks_.nodes;
    for (const std::uint32_t graph : split_) nodes = std::max(nodes, sizes_.bandwidth[graph]);
    const std::uint64_t slots = std::uint64_t{MeasureSizes(sizes_, split_).max_node} + 1;
    return absl::StrCat("--blocks ", std::max<std::uint64_t>(blocks_.count, DivideUp(slots, nodes)),
                        " --block-nodes ", nodes);
  }

 private:
  const Blocks blocks_;
  const GraphSizes sizes_;
  const std::span<const std::uint32_t> split_;
};

class SupergraphPolicy final : public BatchPolicy {
 public:
  SupergraphPolicy(const Blocks& blocks, OversizeGraphs oversize, const PlanRequest& request)
      : blocks_(blocks),
        oversize_(std::move(oversize)),
        action_(request.spec.oversize),
        bandwidth_(request.sizes.bandwidth) {}

  BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const override {
    BudgetedBatches batches(sizes, action_, order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
      PrefetchSizes(order, position, sizes);
      const std::uint32_t graph = order[position];
      const auto [n_node, n_edge] = SizeOf(graph, sizes);
      if (!blocks_.Holds(n_node, n_edge, bandwidth_[graph])) {
        batches.SetAside(graph);
        continue;
      }
      if (!blocks_.budget.HasRoom(batches.open(), n_node, n_edge)) batches.Close();
      batches.Add(graph, n_node, n_edge);
    }
    batches.Close();
    return std::move(batches).Take();
  }

  wire::Shape PaddedShape(const CutBatch& batch, std::uint32_t max_edges) const override {
    if (IsOversize(batch)) return ShapeAlone(batch);
    return {blocks_.budget.graphs + 1, blocks_.budget.nodes, max_edges, blocks_.nodes};
  }

  bool IsOversize(const CutBatch& batch) const override {
    if (batch.real.graphs > 1) return false;
    return !blocks_.Holds(batch.real.nodes, batch.real.edges, bandwidth_[batch.graphs.front()]);
  }

  std::optional<wire::Shape> budget(std::uint32_t max_edges) const override {
    return wire::Shape{blocks_.budget.graphs, blocks_.budget.nodes, max_edges, blocks_.nodes};
  }

  const OversizeGraphs& oversize() const override { return oversize_; }

  std::uint64_t BoundBatches(const SizeTotals& totals) const override {
    return std::max(DivideUp(totals.graphs, blocks_.budget.graphs),
                    DivideUp(totals.nodes, blocks_.budget.nodes - 1));
  }

 private:
  wire::Shape ShapeAlone(const CutBatch& batch) const {
    const std::uint32_t bandwidth = bandwidth_[batch.graphs.front()];
    const std::uint64_t nodes = NodeSlotsAlone(batch.real.nodes, bandwidth);
    // Padding edges need a padding node.
    const std::uint64_t edges = nodes > batch.real.nodes ? UpTo64(batch.real.edges) : batch.real.edges;
    return {2, static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(edges),
            static_cast<std::uint32_t>(BlockNodesAlone(bandwidth))};
  }

  const Blocks blocks_;
  const OversizeGraphs oversize_;
  const wire::Oversize action_;
  const std::span<const std::uint32_t> bandwidth_;
};

constexpr PolicyOption kOwnOptions[] = {
    {"--blocks", [](const wire::BatchSpec& spec) { return spec.blocks.has_value(); },
     "supergraphs alone have blocks"},
    {"--block-nodes", [](const wire::BatchSpec& spec) { return spec.block_nodes.has_value(); },
     "supergraphs alone have blocks"}};

constexpr PolicyOption kRefusedOptions[] = {
    {"--nodes", [](const wire::BatchSpec& spec) { return spec.nodes.has_value(); },
     "it has --blocks times --block-nodes node slots"},
    {"--edges", [](const wire::BatchSpec& spec) { return spec.edges.has_value(); }, "it limits nodes alone"},
    {"--budget-sample", [](const wire::BatchSpec& spec) { return spec.budget_sample.has_value(); },
     "its budget is --blocks times --block-nodes"}};

std::uint32_t AllSlots(const wire::BatchSpec& spec) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(SlotsOf(spec), 1, wire::kMaxBatchGraphs));
}

absl::Status Check(const wire::BatchSpec& spec) {
  if (!spec.blocks || !spec.block_nodes) {
    return absl::InvalidArgumentError("--policy supergraph needs --blocks and --block-nodes");
  }
  if (SlotsOf(spec) >= 2 && SlotsOf(spec) <= wire::kMaxSlots) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--blocks ", *spec.blocks, " --block-nodes ",
                                                 *spec.block_nodes, " is out of range: 2 to ", wire::kMaxSlots,
                                                 " node slots together, one of them padding"));
}

std::string Text(const wire::BatchSpec& spec) {
  return absl::StrCat("blocks=", *spec.blocks, " block_nodes=", *spec.block_nodes,
                      " oversize=", wire::WordOf(spec.oversize, wire::kOversizeWords));
}

absl::StatusOr<std::unique_ptr<const BatchPolicy>> Create(const PlanRequest& request) {
  ABSL_RETURN_IF_ERROR(CheckBandwidths("--policy supergraph", request));
  const Blocks blocks(request.spec);
  ABSL_ASSIGN_OR_RETURN(OversizeGraphs oversize, SettleOversize(SupergraphLimits(blocks, request), request));
  return std::make_unique<SupergraphPolicy>(blocks, std::move(oversize), request);
}

}  // namespace

constexpr PolicyKind kSupergraphPolicy = {.policy = wire::Policy::kSupergraph,
                                          .has_budget = true,
                                          .reads_graphs = false,
                                          .own_options = kOwnOptions,
                                          .refused_options = kRefusedOptions,
                                          .default_max_graphs = AllSlots,
                                          .check = Check,
                                          .canonical_text = Text,
                                          .create = Create};

PaddingBudget SupergraphBudget(const wire::BatchSpec& spec) {
  return {MaxGraphs(spec), static_cast<std::uint32_t>(SlotsOf(spec)), wire::kMaxSlots};
}

}  // namespace packtrain::batching
