// The budgets under which an epoch is fullest.
#ifndef PACKTRAIN_SERVER_BATCHING_BUDGET_TUNING_H_
#define PACKTRAIN_SERVER_BATCHING_BUDGET_TUNING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "server/batching/plan.h"

namespace packtrain::batching {

// A budget and the epoch of the request under it, as Plan::Summarize describes it.
struct TunedBudget {
  Shape budget;  // (M, N, E)
  PlanSummary summary;

  // The lesser of node and edge fill; the node fill of graphs without edges.
  double SmallerFill() const;
};

// Tries budgets with N and E in multiples of 8 and within a twelfth of G + 1 mean graphs; of those under which
// a batch holds G graphs on average, give or take 5 %, it returns the frontier of fill against batch size: the
// one with the best smaller fill, then those with smaller batches than every better one, best first. Each is
// what Plan::Create makes of the request with N and E given. The search is no full sweep. At most 24 values of
// N times nine of E, where both fill alike and up to 3 % beside it, come first, and then, in halving steps down
// to 8, the neighbours of the best six. Of more than 2^18 graphs it looks at 16 stretches of 2^13 until only
// the best are left to compare. Candidates are planned in request.parallel_for. INVALID_ARGUMENT: a policy
// without a budget, a budget or a sample for it that is given, and as Plan::Create. FAILED_PRECONDITION: there
// is no such budget; where graphs are too large for those tried, as Plan::Create.
absl::StatusOr<std::vector<TunedBudget>> TuneBudget(const PlanRequest& request);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_BUDGET_TUNING_H_
