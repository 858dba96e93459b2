#include "server/batching/dynamic_policy.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/padding_budget.h"
#include "server/batching/size_prefetch.h"

namespace packtrain::batching {
namespace {

class DynamicPolicy final : public BatchPolicy {
 public:
  DynamicPolicy(PaddingBudget budget, OversizeGraphs oversize, Oversize action)
      : budget_(budget), oversize_(std::move(oversize)), action_(action) {}

  BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const override {
    BatchList batches;
    batches.Reserve(order.size());
    std::vector<std::uint32_t> alone;
    for (std::size_t position = 0; position < order.size(); ++position) {
      PrefetchSizes(order, position, sizes);
      const std::uint32_t graph = order[position];
      const auto [n_node, n_edge] = SizeOf(graph, sizes);
      if (!budget_.Holds(n_node, n_edge)) {
        if (action_ == Oversize::kAlone) alone.push_back(graph);
        continue;
      }
      if (!budget_.HasRoom(batches.open(), n_node, n_edge)) CloseAndAddAlone(batches, alone, sizes);
      batches.Add(graph, n_node, n_edge);
    }
    CloseAndAddAlone(batches, alone, sizes);
    return batches;
  }

  Shape PaddedShape(const Shape& real) const override {
    return IsOversize(real) ? OversizeShape(real) : budget_.padded();
  }
  bool IsOversize(const Shape& real) const override { return !budget_.Holds(real.nodes, real.edges); }
  std::optional<Shape> budget() const override { return Shape{budget_.graphs, budget_.nodes, budget_.edges}; }
  const OversizeGraphs& oversize() const override { return oversize_; }

  std::uint64_t BoundBatches(const SizeTotals& totals) const override {
    return std::max({DivideUp(totals.graphs, budget_.graphs), DivideUp(totals.nodes, budget_.nodes - 1),
                     DivideUp(totals.edges, budget_.edges)});
  }

 private:
  static std::uint64_t DivideUp(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

  static void CloseAndAddAlone(BatchList& batches, std::vector<std::uint32_t>& alone, const GraphSizes& sizes) {
    batches.Close();
    for (const std::uint32_t graph : alone) {
      batches.Add(graph, sizes.n_node[graph], sizes.n_edge[graph]);
      batches.Close();
    }
    alone.clear();
  }

  const PaddingBudget budget_;
  const OversizeGraphs oversize_;
  const Oversize action_;
};

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

absl::Status Check(const BatchSpec& spec) {
  if (spec.pad) {
    return absl::InvalidArgumentError("--pad does not go with --policy dynamic: its shape is the budget");
  }
  return CheckBudget(spec);
}

std::string Text(const BatchSpec& spec) {
  return absl::StrCat("policy=dynamic graphs=", spec.graphs, " max_graphs=", MaxGraphs(spec),
                      " nodes=", NumberOr(spec.nodes, "split"), " edges=", NumberOr(spec.edges, "split"),
                      " budget_sample=", NumberOr(spec.budget_sample, "all"),
                      " oversize=", OversizeName(spec.oversize));
}

absl::StatusOr<std::unique_ptr<const BatchPolicy>> Create(const PlanRequest& request) {
  const absl::StatusOr<PaddingBudget> budget = ResolveBudget(request.spec, request.sizes, request.split);
  if (!budget.ok()) return budget.status();
  OversizeGraphs oversize = FindOversize(*budget, request.sizes, request.split);
  if (absl::Status status = CheckOversize(oversize, *budget, request); !status.ok()) return status;
  return std::make_unique<DynamicPolicy>(*budget, std::move(oversize), request.spec.oversize);
}

}  // namespace

constexpr PolicyKind kDynamicPolicy = {Check, Text, Create};

}  // namespace packtrain::batching
