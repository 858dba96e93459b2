// `static`: the next G graphs of the order make a batch; `pad` decides its shape.
#ifndef PACKTRAIN_SERVER_BATCHING_STATIC_POLICY_H_
#define PACKTRAIN_SERVER_BATCHING_STATIC_POLICY_H_

#include "server/batching/policy_kind.h"

namespace packtrain::batching {

// It has no budget, so no graph is oversize. Every batch but the last of an epoch holds exactly G graphs.
extern const PolicyKind kStaticPolicy;

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_STATIC_POLICY_H_
