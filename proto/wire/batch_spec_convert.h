// Batch specs, and what plans are made of, as messages.
//
//   ABSL_ASSIGN_OR_RETURN(const wire::BatchSpec spec, wire::FromMessage(request.spec()));
//   ABSL_ASSIGN_OR_RETURN(*request.mutable_spec(), wire::ToMessage(spec));
#ifndef PACKTRAIN_PROTO_WIRE_BATCH_SPEC_CONVERT_H_
#define PACKTRAIN_PROTO_WIRE_BATCH_SPEC_CONVERT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/plan_summary.h"
#include "proto/wire/shape.h"
#include "proto/wire/world.h"

namespace packtrain::wire {

// INVALID_ARGUMENT, as CheckPolicyGiven: the policy is missing.
absl::StatusOr<v1::BatchSpec> ToMessage(const BatchSpec& spec);
// INVALID_ARGUMENT: no policy, or an enum value that this program does not know; the status names the field,
// which is a detail of it, too (error_details.h). Whether the options go together is the planner's to say.
absl::StatusOr<BatchSpec> FromMessage(const v1::BatchSpec& message);

v1::Shape ToMessage(const Shape& shape);
Shape FromMessage(const v1::Shape& message);

v1::Segment ToMessage(const Segment& segment);
// What a request's world_size means: 1 where it is absent.
std::uint32_t WorldSizeOrDefault(std::uint32_t requested);
// As requested; whether the segments fit the epoch is the planner's to say.
World WorldOf(const v1::StreamBatchesRequest& request);
// INVALID_ARGUMENT, naming the field: `on_corrupt` is unknown.
absl::StatusOr<bool> SkipsCorrupt(const v1::StreamBatchesRequest& request);

// All that the planner says of an epoch of `spec`. The name of the data set, ids of graphs, fingerprint and
// time are left to who knows them.
v1::GetPlanResponse ToMessage(const PlanSummary& summary, const BatchSpec& spec, std::uint32_t plan_version);

// Policy and pad in one word, as runs are compared by it: "dynamic"; or "static-" and the pad, such as
// "static-multiple", which an unspecified pad is, and "static-ladder:8". Values of a newer peer are numbered.
std::string PolicyName(const v1::BatchSpec& spec);

// The slice in one word: "none", or the limit, such as "nodes:512". Values of a newer peer are numbered.
std::string SkipAboveName(const v1::BatchSpec& spec);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BATCH_SPEC_CONVERT_H_
