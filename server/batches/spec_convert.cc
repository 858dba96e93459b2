#include "server/batches/spec_convert.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/enum_check.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/planner_convert.h"

namespace packtrain::batches {

absl::StatusOr<batching::BatchSpec> FromProto(const v1::BatchSpec& spec) {
  ABSL_RETURN_IF_ERROR(base::CheckEnums("spec", spec));
  if (spec.policy() != v1::POLICY_UNSPECIFIED) return wire::ToPlanner<batching::BatchSpec>(spec);
  return base::WithField(
      absl::InvalidArgumentError("spec.policy is missing: choose static, dynamic, packed or tuple (--policy)"),
      "spec.policy");
}

std::uint32_t WorldSizeOrDefault(std::uint32_t requested) { return std::max(requested, 1u); }

absl::StatusOr<bool> SkipsCorrupt(const v1::StreamBatchesRequest& request) {
  if (v1::OnCorrupt_IsValid(request.on_corrupt())) return request.on_corrupt() == v1::ON_CORRUPT_SKIP;
  return base::WithField(
      absl::InvalidArgumentError(absl::StrCat("on_corrupt = ", static_cast<int>(request.on_corrupt()),
                                              " is not known to this server; it may be older than the client")),
      "on_corrupt");
}

batching::World WorldOf(const v1::StreamBatchesRequest& request) {
  batching::World world{.size = WorldSizeOrDefault(request.world_size())};
  for (const v1::Segment& segment : request.segments()) {
    world.segments.push_back({segment.world_size(), segment.steps()});
  }
  return world;
}

}  // namespace packtrain::batches
