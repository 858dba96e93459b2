#include "server/batching/budgeted_policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

constexpr PolicyOption kBudgetOptions[] = {
    {"--max-graphs",
     [](const wire::BatchSpec& spec) { return spec.max_graphs.value_or(spec.graphs) != spec.graphs; },
     "--graphs says how many"},
    {"--nodes", [](const wire::BatchSpec& spec) { return spec.nodes.has_value(); }, "its shapes follow --pad"},
    {"--edges", [](const wire::BatchSpec& spec) { return spec.edges.has_value(); }, "its shapes follow --pad"},
    {"--budget-sample", [](const wire::BatchSpec& spec) { return spec.budget_sample.has_value(); },
     "it has no budget"},
    {"--oversize", [](const wire::BatchSpec& spec) { return spec.oversize != wire::Oversize::kError; },
     "it has no budget"}};

// The limits of N and E.
class BudgetLimits final : public GraphLimits {
 public:
  BudgetLimits(const PaddingBudget& budget, const PlanRequest& request)
      : budget_(budget), sizes_(request.sizes), split_(request.split) {}

  bool Holds(std::uint32_t graph) const override {
    return budget_.Holds(sizes_.n_node[graph], sizes_.n_edge[graph]);
  }
  std::uint64_t AloneSlots() const override {
    const SizeTotals totals = MeasureSizes(sizes_, split_);
    return std::max(UpTo64(std::uint64_t{totals.max_node} + 1), UpTo64(totals.max_edge));
  }
  std::string Text() const override {
    return absl::StrCat("the budget of --nodes ", budget_.nodes, " (one of them padding) and --edges ",
                        budget_.edges);
  }
  std::string SizeText(std::uint32_t graph) const override {
    return absl::StrCat(sizes_.n_node[graph], " nodes and ", sizes_.n_edge[graph], " edges");
  }
  std::string Enough() const override {
    const SizeTotals totals = MeasureSizes(sizes_, split_);
    return absl::StrCat("a budget of at least --nodes ", std::uint64_t{totals.max_node} + 1, " --edges ",
                        totals.max_edge);
  }

 private:
  const PaddingBudget budget_;
  const GraphSizes sizes_;
  const std::span<const std::uint32_t> split_;
};

std::string NumberOr(std::optional<std::uint32_t> value, const char* absent) {
  return value ? absl::StrCat(*value) : absent;
}

}  // namespace

absl::StatusOr<SettledBudget> SettleBudget(const PlanRequest& request) {
  ABSL_ASSIGN_OR_RETURN(const PaddingBudget limits, ResolveBudget(request.spec, request.sizes, request.split));
  ABSL_ASSIGN_OR_RETURN(OversizeGraphs oversize, SettleOversize(BudgetLimits(limits, request), request));
  return SettledBudget{limits, std::move(oversize), request.spec.oversize};
}

std::span<const PolicyOption> BudgetOptions() { return kBudgetOptions; }

std::string BudgetText(const wire::BatchSpec& spec) {
  return absl::StrCat("nodes=", NumberOr(spec.nodes, "split"), " edges=", NumberOr(spec.edges, "split"),
                      " budget_sample=", NumberOr(spec.budget_sample, "all"),
                      " oversize=", wire::WordOf(spec.oversize, wire::kOversizeWords));
}

std::uint32_t RoomForMoreGraphs(const wire::BatchSpec& spec) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(DivideUp(5 * (std::uint64_t{spec.graphs} + 1), 4), wire::kMaxBatchGraphs));
}

BudgetedPolicy::BudgetedPolicy(SettledBudget settled) : settled_(std::move(settled)) {}

wire::Shape BudgetedPolicy::PaddedShape(const CutBatch& batch, std::uint32_t /*max_edges*/) const {
  if (!IsOversize(batch)) return limits().padded();
  return {2, static_cast<std::uint32_t>(UpTo64(std::uint64_t{batch.real.nodes} + 1)),
          static_cast<std::uint32_t>(UpTo64(batch.real.edges))};
}

bool BudgetedPolicy::IsOversize(const CutBatch& batch) const {
  return !limits().Holds(batch.real.nodes, batch.real.edges);
}

std::optional<wire::Shape> BudgetedPolicy::budget(std::uint32_t /*max_edges*/) const {
  return wire::Shape{limits().graphs, limits().nodes, limits().edges};
}

const OversizeGraphs& BudgetedPolicy::oversize() const { return settled_.oversize; }

std::uint64_t BudgetedPolicy::BoundBatches(const SizeTotals& totals) const {
  return std::max({DivideUp(totals.graphs, limits().graphs), DivideUp(totals.nodes, limits().nodes - 1),
                   DivideUp(totals.edges, limits().edges)});
}

BudgetedBatches::BudgetedBatches(const GraphSizes& sizes, wire::Oversize action, std::size_t graphs)
    : sizes_(sizes), action_(action) {
  list_.Reserve(graphs);
}

void BudgetedBatches::SetAside(std::uint32_t graph) {
  if (action_ == wire::Oversize::kAlone) alone_.push_back(graph);
}

void BudgetedBatches::Close() {
  list_.Close();
  for (const std::uint32_t graph : alone_) {
    list_.Add(graph, sizes_.n_node[graph], sizes_.n_edge[graph]);
    list_.Close();
  }
  alone_.clear();
}

}  // namespace packtrain::batching
