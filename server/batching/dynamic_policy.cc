#include "server/batching/dynamic_policy.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "server/batching/budgeted_policy.h"
#include "server/batching/size_prefetch.h"

namespace packtrain::batching {
namespace {

class DynamicPolicy final : public BudgetedPolicy {
 public:
  using BudgetedPolicy::BudgetedPolicy;

  BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const override {
    BudgetedBatches batches(sizes, action(), order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
      PrefetchSizes(order, position, sizes);
      const std::uint32_t graph = order[position];
      const auto [n_node, n_edge] = SizeOf(graph, sizes);
      if (!limits().Holds(n_node, n_edge)) {
        batches.SetAside(graph);
        continue;
      }
      if (!limits().HasRoom(batches.open(), n_node, n_edge)) batches.Close();
      batches.Add(graph, n_node, n_edge);
    }
    batches.Close();
    return std::move(batches).Take();
  }
};

absl::StatusOr<std::unique_ptr<const BatchPolicy>> Create(const PlanRequest& request) {
  ABSL_ASSIGN_OR_RETURN(SettledBudget settled, SettleBudget(request));
  return std::make_unique<DynamicPolicy>(std::move(settled));
}

}  // namespace

constexpr PolicyKind kDynamicPolicy = {.policy = wire::Policy::kDynamic,
                                       .has_budget = true,
                                       .default_max_graphs = SameGraphs,
                                       .check = CheckBudget,
                                       .canonical_text = BudgetText,
                                       .create = Create};

}  // namespace packtrain::batching
