// Which batch specs can be planned, and what of a spec decides its plan.
#ifndef PACKTRAIN_SERVER_BATCHING_SPEC_RULES_H_
#define PACKTRAIN_SERVER_BATCHING_SPEC_RULES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/wire/batch_spec.h"

namespace packtrain::batching {

// Raised whenever the same spec would give another plan; part of every fingerprint.
inline constexpr std::uint32_t kPlanVersion = 2;

// INVALID_ARGUMENT: the spec has no policy, contradicts itself, or has a value out of range. Knows nothing of a
// data set.
absl::Status CheckSpec(const wire::BatchSpec& spec);

// The spec in one line with every default filled in, equal for equal plans: the part of a fingerprint that
// batching decides. Holds plan_version; holds neither split, nor epoch, nor world size. For a spec that passes
// CheckSpec; what the policy has no use for leaves no trace.
std::string CanonicalText(const wire::BatchSpec& spec);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SPEC_RULES_H_
