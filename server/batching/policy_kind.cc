#include "server/batching/policy_kind.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/budgeted_policy.h"
#include "server/batching/dynamic_policy.h"
#include "server/batching/packed_policy.h"
#include "server/batching/static_policy.h"
#include "server/batching/supergraph_policy.h"
#include "server/batching/tuple_policy.h"

namespace packtrain::batching {
namespace {

constexpr const PolicyKind* kPolicyKinds[] = {&kStaticPolicy, &kDynamicPolicy, &kPackedPolicy, &kTuplePolicy,
                                              &kSupergraphPolicy};

absl::Status RefuseOptions(std::span<const PolicyOption> options, const wire::BatchSpec& spec) {
  for (const PolicyOption& option : options) {
    if (!option.is_given(spec)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option.flag, " does not go with --policy ", wire::PolicyText(spec), ": ", option.why_not));
  }
  return absl::OkStatus();
}

}  // namespace

const PolicyKind& KindOf(const wire::BatchSpec& spec) {
  for (const PolicyKind* kind : kPolicyKinds) {
    if (kind->policy == spec.policy) return *kind;
  }
  std::abort();
}

absl::Status RefuseOptionsOfOthers(const wire::BatchSpec& spec) {
  const PolicyKind& kind = KindOf(spec);
  if (!kind.has_budget) {
    ABSL_RETURN_IF_ERROR(RefuseOptions(BudgetOptions(), spec));
  }
  ABSL_RETURN_IF_ERROR(RefuseOptions(kind.refused_options, spec));
  for (const PolicyKind* other : kPolicyKinds) {
    if (other == &kind) continue;
    ABSL_RETURN_IF_ERROR(RefuseOptions(other->own_options, spec));
  }
  return absl::OkStatus();
}

std::uint32_t MaxGraphs(const wire::BatchSpec& spec) {
  return spec.max_graphs.value_or(KindOf(spec).default_max_graphs(spec));
}

}  // namespace packtrain::batching
