// What the policies with a budget of nodes and edges share: dynamic, packed and tuple differ only in which
// graphs go together.
#ifndef PACKTRAIN_SERVER_BATCHING_BUDGETED_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_BUDGETED_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/shape.h"
#include "server/batching/batch_list.h"
#include "server/batching/oversize.h"
#include "server/batching/padding_budget.h"
#include "server/batching/plan_request.h"
#include "server/batching/policy_kind.h"
#include "server/batching/size_totals.h"

namespace packtrain::batching {

// The budget of one split, the graphs of the split above it, and what is done with them.
struct SettledBudget {
  PaddingBudget limits;
  OversizeGraphs oversize;
  wire::Oversize action = wire::Oversize::kError;
};

// Codes as ResolveBudget and SettleOversize.
absl::StatusOr<SettledBudget> SettleBudget(const PlanRequest& request);

// The options that only the policies with a budget take.
std::span<const PolicyOption> BudgetOptions();

// Default of M for a policy that chooses among graphs: ceil(5 (G+1) / 4), at most kMaxBatchGraphs.
std::uint32_t RoomForMoreGraphs(const wire::BatchSpec& spec);

// The part of CanonicalText that the budget determines.
std::string BudgetText(const wire::BatchSpec& spec);

// Every batch has the shape (M+1, N, E), except for oversize graphs under Oversize::kAlone: each of them is a
// batch of its own, right after the batch that was open when its turn came.
class BudgetedPolicy : public BatchPolicy {
 public:
  explicit BudgetedPolicy(SettledBudget settled);

  wire::Shape PaddedShape(const CutBatch& batch, std::uint32_t max_edges) const override;
  bool IsOversize(const CutBatch& batch) const override;
  std::optional<wire::Shape> budget(std::uint32_t max_edges) const override;
  const OversizeGraphs& oversize() const override;
  std::uint64_t BoundBatches(const SizeTotals& totals) const override;

 protected:
  const PaddingBudget& limits() const { return settled_.limits; }
  wire::Oversize action() const { return settled_.action; }

 private:
  const SettledBudget settled_;
};

// Builds the batches of an epoch in the order of their indices. Borrows the sizes.
class BudgetedBatches {
 public:
  // Reserves memory for `graphs` graphs.
  BudgetedBatches(const GraphSizes& sizes, wire::Oversize action, std::size_t graphs);

  // Adds a graph to the open batch, which must have room for it.
  void Add(std::uint32_t graph, std::uint32_t n_node, std::uint32_t n_edge) {
    list_.Add(graph, n_node, n_edge);
  }
  // Counts of the open batch.
  const wire::Shape& open() const { return list_.open(); }
  // Takes a graph above the budget when its turn comes: skips it, or sets it aside for a batch of its own.
  void SetAside(std::uint32_t graph);
  // Ends the open batch, if it holds a graph. The graphs that were set aside follow it as batches of their own.
  void Close();
  // After the last Close.
  BatchList Take() && { return std::move(list_); }

 private:
  const GraphSizes sizes_;
  const wire::Oversize action_;
  BatchList list_;
  std::vector<std::uint32_t> alone_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_BUDGETED_POLICY_H_
