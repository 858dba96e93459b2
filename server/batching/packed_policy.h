// `packed`: one pass over the order that looks ahead for the graphs which fill a batch up.
#ifndef PACKTRAIN_SERVER_BATCHING_PACKED_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_PACKED_POLICY_H_

#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// A BudgetedPolicy that packs by PackingRules (lookahead_packer.h) with the spec's lookahead, 1 to 4096,
// default kDefaultLookahead. The default of M is ceil(5 (G+1) / 4). The turn of an oversize graph comes when it
// would enter the window. With a lookahead of 1 the policy equals `dynamic` except for M.
extern const PolicyKind kPackedPolicy;

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PACKED_POLICY_H_
