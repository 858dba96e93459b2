#include "server/batching/policy_kind.h"

#include <cstdlib>

#include "server/batching/dynamic_policy.h"
#include "server/batching/static_policy.h"

namespace packtrain::batching {

const PolicyKind& KindOf(Policy policy) {
  switch (policy) {
    case Policy::kStatic:
      return kStaticPolicy;
    case Policy::kDynamic:
      return kDynamicPolicy;
  }
  std::abort();
}

}  // namespace packtrain::batching
