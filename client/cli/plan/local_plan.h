// Plans an epoch from a list of sizes, without a server.
#ifndef PACKTRAIN_CLIENT_CLI_PLAN_LOCAL_PLAN_H_
#define PACKTRAIN_CLIENT_CLI_PLAN_LOCAL_PLAN_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/plan/size_list.h"
#include "client/flags/spec_flags.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/wire/batch_spec.h"
#include "server/batching/budget_tuning.h"
#include "server/batching/supergraph_table.h"

namespace packtrain::cli {

// INVALID_ARGUMENT: a --split other than "all", the only one that a list of sizes has.
absl::Status CheckListSplit(const wire::BatchSpec& spec);

// The whole list is one split, "all". Graphs above the budget are named "line N". Codes as PlanService.GetPlan.
absl::StatusOr<v1::GetPlanResponse> PlanSizes(const SizeList& sizes, const client::SpecFlags& flags);

// The best budgets for the list, on all threads of the machine. Codes as batching::TuneBudget.
absl::StatusOr<std::vector<batching::TunedBudget>> TuneSizes(const SizeList& sizes,
                                                             const client::SpecFlags& flags);

// What supergraphs of the list hold, on all threads of the machine. Codes as batching::TabulateSupergraphs.
absl::StatusOr<std::vector<batching::SupergraphRow>> TabulateSizes(const SizeList& sizes,
                                                                   const client::SpecFlags& flags);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_PLAN_LOCAL_PLAN_H_
