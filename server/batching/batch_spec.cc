#include "server/batching/batch_spec.h"

#include "absl/strings/str_cat.h"
#include "server/batching/policy_kind.h"
#include "server/batching/slots.h"

namespace packtrain::batching {
namespace {

// The seed decides nothing where nothing is shuffled.
std::string OrderText(const BatchSpec& spec) {
  return spec.order == Order::kNone ? "order=none" : absl::StrCat("order=full seed=", spec.seed);
}

absl::Status CheckGraphCount(const char* flag, std::uint32_t graphs) {
  if (graphs >= 1 && graphs <= kMaxBatchGraphs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", graphs, " is out of range: 1 to ", kMaxBatchGraphs));
}

}  // namespace

absl::Status CheckSpec(const BatchSpec& spec) {
  if (absl::Status status = CheckGraphCount("--graphs", spec.graphs); !status.ok()) return status;
  if (absl::Status status = CheckGraphCount("--max-graphs", MaxGraphs(spec)); !status.ok()) return status;
  return KindOf(spec.policy).check(spec);
}

std::string CanonicalText(const BatchSpec& spec) {
  return absl::StrCat("plan_version=", kPlanVersion, " ", KindOf(spec.policy).canonical_text(spec), " ",
                      OrderText(spec), " drop_last=", spec.drop_last ? 1 : 0);
}

}  // namespace packtrain::batching
