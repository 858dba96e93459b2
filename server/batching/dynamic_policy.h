// `dynamic`: graphs join a batch in their order until the next one would break the budget.
#ifndef PACKTRAIN_SERVER_BATCHING_DYNAMIC_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_DYNAMIC_POLICY_H_

#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// A BudgetedPolicy whose default M is G. The turn of a graph comes when the order reaches it.
extern const PolicyKind kDynamicPolicy;

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_DYNAMIC_POLICY_H_
