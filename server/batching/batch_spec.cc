#include "server/batching/batch_spec.h"

#include "absl/strings/str_cat.h"
#include "server/batching/policy_kind.h"

namespace packtrain::batching {
namespace {

// The seed decides nothing where nothing is shuffled.
std::string OrderText(const BatchSpec& spec) {
  return spec.order == Order::kNone ? "order=none" : absl::StrCat("order=full seed=", spec.seed);
}

}  // namespace

std::string CanonicalText(const BatchSpec& spec) {
  return absl::StrCat("plan_version=", kPlanVersion, " ", KindOf(spec.policy).canonical_text(spec), " ",
                      OrderText(spec), " drop_last=", spec.drop_last ? 1 : 0);
}

}  // namespace packtrain::batching
