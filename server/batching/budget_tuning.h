// Searches for the budgets under which an epoch fills best.
#ifndef PACKTRAIN_SERVER_BATCHING_BUDGET_TUNING_H_
#define PACKTRAIN_SERVER_BATCHING_BUDGET_TUNING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "server/batching/plan.h"

namespace packtrain::batching {

// A budget and the epoch of the request under it, as Plan::Summarize describes it.
struct TunedBudget {
  wire::Shape budget;  // (M, N, E)
  wire::PlanSummary summary;

  // The smaller of node and edge fill; the node fill if the graphs have no edges.
  double SmallerFill() const;
};

// Tries budgets with N and E in multiples of 8 and within a twelfth of G + 1 mean graphs. Of those under which
// a batch holds G graphs on average, within 5 %, it returns the frontier of fill against batch size, best
// first: the budget with the best smaller fill, then those whose batches are smaller than those of every better
// one. Each is what Plan::Create makes of the request with N and E given.
//
// The search is not exhaustive. It begins with at most 24 values of N times nine of E, along the line on which
// both fill equally and up to 3 % beside it, and continues with the neighbours of the best six, in steps that
// halve down to 8. Of more than 2^18 graphs it looks at 16 stretches of 2^13 graphs until only the best budgets
// are left to compare. Candidates are planned in request.parallel_for.
//
// INVALID_ARGUMENT: a policy without a budget, a budget or a sample for it that is given, and as Plan::Create.
// FAILED_PRECONDITION: there is no such budget, or, as Plan::Create, graphs are too large for those that were
// tried.
absl::StatusOr<std::vector<TunedBudget>> TuneBudget(const PlanRequest& request);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_BUDGET_TUNING_H_
