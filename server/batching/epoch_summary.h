// Totals of an epoch.
#ifndef PACKTRAIN_SERVER_BATCHING_EPOCH_SUMMARY_H_
#define PACKTRAIN_SERVER_BATCHING_EPOCH_SUMMARY_H_

#include "server/batching/batch_list.h"
#include "server/batching/plan.h"
#include "server/batching/policy_kind.h"
#include "server/batching/rank_assignment.h"

namespace packtrain::batching {

// Summarizes the batches of `policy`, dealt to the ranks in the order of the list. Time is linear in batches,
// and in steps times the logarithm of the number of segments.
wire::PlanSummary SummarizeEpoch(const BatchList& list, const RankAssignment& ranks, const BatchPolicy& policy,
                                 std::uint32_t max_edges);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_EPOCH_SUMMARY_H_
