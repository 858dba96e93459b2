// Evens out the work of the ranks at a step: the stage between cutting and dealing.
#ifndef PACKTRAIN_SERVER_BATCHING_RANK_BALANCE_H_
#define PACKTRAIN_SERVER_BATCHING_RANK_BALANCE_H_

#include <cstdint>

#include "proto/wire/batch_spec.h"
#include "proto/wire/shape.h"
#include "server/batching/batch_list.h"
#include "server/batching/plan_request.h"
#include "server/batching/rank_assignment.h"
#include "server/batching/step_windows.h"

namespace packtrain::batching {

// Implements Balance::kCost. If batches have no budget, the graphs of a step are split over its ranks
// (StepSplit), at most G to a rank, and no graph changes its step; a last step that cannot fill its ranks is
// spread over all of them. Batches with a budget stay whole, and steps are made of those that cost about the
// same (OrderByWindows). Immutable; any number of threads may use it.
class RankBalance {
 public:
  // `budgeted`: batches of the request's policy have a budget.
  RankBalance(const PlanRequest& request, bool budgeted);

  // Rearranges the batches of an epoch for the world of `ranks`, which was made for that many batches: batch
  // `index` of the result goes where `ranks` puts that index. Nothing is promised about batches that fill no
  // step.
  BatchList Arrange(const BatchList& cut, const RankAssignment& ranks) const;

 private:
  BatchList SplitSteps(const BatchList& cut, const RankAssignment& ranks) const;
  BatchList RegroupBatches(const BatchList& cut, const RankAssignment& ranks) const;
  std::uint64_t CostOf(const wire::Shape& real) const;

  const bool budgeted_;
  const std::uint32_t graphs_;  // G
  const wire::CostCoefficients cost_;
  const GraphSizes sizes_;
  const EpochSeed seed_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_RANK_BALANCE_H_
