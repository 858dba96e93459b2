// Plans an epoch from a list of sizes, without a server.
#ifndef PACKTRAIN_CLIENT_CLI_LOCAL_PLAN_H_
#define PACKTRAIN_CLIENT_CLI_LOCAL_PLAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/spec_flags.h"
#include "packtrain/v1/batch.pb.h"

namespace packtrain::cli {

// `path` holds a line `n_node n_edge` for each graph, plain or gzip; further columns are passed over, and so
// are empty lines. The whole list is one split, "all". Graphs above the budget are named "line N".
// INVALID_ARGUMENT names file and line; other codes as PlanService.GetPlan.
absl::StatusOr<v1::GetPlanResponse> PlanSizes(const std::string& path, const client::SpecFlags& flags);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_LOCAL_PLAN_H_
