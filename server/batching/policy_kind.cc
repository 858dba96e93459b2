#include "server/batching/policy_kind.h"

#include <cstdlib>

#include "server/batching/dynamic_policy.h"
#include "server/batching/packed_policy.h"
#include "server/batching/static_policy.h"
#include "server/batching/tuple_policy.h"

namespace packtrain::batching {

const PolicyKind& KindOf(Policy policy) {
  switch (policy) {
    case Policy::kStatic:
      return kStaticPolicy;
    case Policy::kDynamic:
      return kDynamicPolicy;
    case Policy::kPacked:
      return kPackedPolicy;
    case Policy::kTuple:
      return kTuplePolicy;
  }
  std::abort();
}

std::uint32_t MaxGraphs(const BatchSpec& spec) {
  return spec.max_graphs.value_or(KindOf(spec.policy).default_max_graphs(spec.graphs));
}

}  // namespace packtrain::batching
