// Plans an epoch from a list of sizes, without a server.
#ifndef PACKTRAIN_CLIENT_CLI_PLAN_LOCAL_PLAN_H_
#define PACKTRAIN_CLIENT_CLI_PLAN_LOCAL_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/plan/size_list.h"
#include "client/flags/spec_flags.h"
#include "packtrain/v1/batch.pb.h"
#include "server/batching/batch_spec.h"
#include "server/batching/budget_tuning.h"

namespace packtrain::cli {

// The planner's form of the spec, for a list of sizes, which has no split but "all". INVALID_ARGUMENT: another
// --split, or an unknown word.
absl::StatusOr<batching::BatchSpec> LocalSpec(const client::SpecFlags& flags);

// The whole list is one split, "all". Graphs above the budget are named "line N". Codes as PlanService.GetPlan.
absl::StatusOr<v1::GetPlanResponse> PlanSizes(const SizeList& sizes, const client::SpecFlags& flags);

// The best budgets for the list, on all threads of the machine. Codes as batching::TuneBudget.
absl::StatusOr<std::vector<batching::TunedBudget>> TuneSizes(const SizeList& sizes,
                                                             const client::SpecFlags& flags);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_PLAN_LOCAL_PLAN_H_
