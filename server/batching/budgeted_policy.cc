#include "server/batching/budgeted_policy.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/slots.h"

namespace packtrain::batching {
namespace {

const char* OversizeName(Oversize oversize) {
  switch (oversize) {
    case Oversize::kError:
      return "error";
    case Oversize::kAlone:
      return "alone";
    case Oversize::kSkip:
      return "skip";
  }
  std::abort();
}

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

std::string BudgetText(const BatchSpec& spec) {
  return absl::StrCat("nodes=", NumberOr(spec.nodes, "split"), " edges=", NumberOr(spec.edges, "split"),
                      " budget_sample=", NumberOr(spec.budget_sample, "all"),
                      " oversize=", OversizeName(spec.oversize));
}

std::uint32_t RoomForMoreGraphs(std::uint32_t graphs) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(DivideUp(5 * (std::uint64_t{graphs} + 1), 4), kMaxBatchGraphs));
}

BudgetedPolicy::BudgetedPolicy(SettledBudget settled) : settled_(std::move(settled)) {}

Shape BudgetedPolicy::PaddedShape(const Shape& real) const {
  return IsOversize(real) ? OversizeShape(real) : limits().padded();
}

bool BudgetedPolicy::IsOversize(const Shape& real) const { return !limits().Holds(real.nodes, real.edges); }

std::optional<Shape> BudgetedPolicy::budget() const {
  return Shape{limits().graphs, limits().nodes, limits().edges};
}

const OversizeGraphs& BudgetedPolicy::oversize() const { return settled_.oversize; }

std::uint64_t BudgetedPolicy::BoundBatches(const SizeTotals& totals) const {
  return std::max({DivideUp(totals.graphs, limits().graphs), DivideUp(totals.nodes, limits().nodes - 1),
                   DivideUp(totals.edges, limits().edges)});
}

BudgetedBatches::BudgetedBatches(const GraphSizes& sizes, Oversize action, std::size_t graphs)
    : sizes_(sizes), action_(action) {
  list_.Reserve(graphs);
}

void BudgetedBatches::SetAside(std::uint32_t graph) {
  if (action_ == Oversize::kAlone) alone_.push_back(graph);
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
