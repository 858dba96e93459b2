// `dynamic`: graphs join a batch in their order until the next one would break the budget.
#ifndef PACKTRAIN_SERVER_BATCHING_DYNAMIC_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_DYNAMIC_POLICY_H_

#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// One shape, (M+1, N, E), save for oversize graphs under Oversize::kAlone: each of those comes as a batch
// of its own right after the batch that was open when the order reached it.
extern const PolicyKind kDynamicPolicy;

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_DYNAMIC_POLICY_H_
