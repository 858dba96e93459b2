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

std::string NumberOr(std::optional<std::uint32_t> value, const char* absent) {
  return value ? absl::StrCat(*value) : absent;
}

}  // namespace

absl::StatusOr<SettledBudget> SettleBudget(const PlanRequest& request) {
  ABSL_ASSIGN_OR_RETURN(const PaddingBudget limits, ResolveBudget(request.spec, request.sizes, request.split));
  OversizeGraphs oversize = FindOversize(limits, request.sizes, request.split);
  if (oversize.count > 0 && request.on_oversize) request.on_oversize(oversize.count);
  ABSL_RETURN_IF_ERROR(CheckOversize(oversize, limits, request));
  return SettledBudget{limits, std::move(oversize), request.spec.oversize};
}

std::span<const PolicyOption> BudgetOptions() { return kBudgetOptions; }

std::string BudgetText(const wire::BatchSpec& spec) {
  return absl::StrCat("nodes=", NumberOr(spec.nodes, "split"), " edges=", NumberOr(spec.edges, "split"),
                      " budget_sample=", NumberOr(spec.budget_sample, "all"),
                      " oversize=", wire::WordOf(spec.oversize, wire::kOversizeWords));
}

std::uint32_t RoomForMoreGraphs(std::uint32_t graphs) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(DivideUp(5 * (std::uint64_t{graphs} + 1), 4), wire::kMaxBatchGraphs));
}

BudgetedPolicy::BudgetedPolicy(SettledBudget settled) : settled_(std::move(settled)) {}

wire::Shape BudgetedPolicy::PaddedShape(const wire::Shape& real) const {
  return IsOversize(real) ? OversizeShape(real) : limits().padded();
}

bool BudgetedPolicy::IsOversize(const wire::Shape& real) const {
  return !limits().Holds(real.nodes, real.edges);
}

std::optional<wire::Shape> BudgetedPolicy::budget() const {
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
