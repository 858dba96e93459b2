// Batch specs and worlds of requests as the planner takes them.
#ifndef PACKTRAIN_SERVER_BATCHES_SPEC_CONVERT_H_
#define PACKTRAIN_SERVER_BATCHES_SPEC_CONVERT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "server/batching/batch_spec.h"
#include "server/batching/plan_request.h"

namespace packtrain::batches {

// As wire::ToPlanner. INVALID_ARGUMENT: no policy, or an enum value that this server does not know; the message
// names the field.
absl::StatusOr<batching::BatchSpec> FromProto(const v1::BatchSpec& spec);

// What a request's world_size means: 1 where it is absent.
std::uint32_t WorldSizeOrDefault(std::uint32_t requested);
// INVALID_ARGUMENT: `on_corrupt` is unknown.
absl::StatusOr<bool> SkipsCorrupt(const v1::StreamBatchesRequest& request);
// As requested; whether the segments fit the epoch is the planner's to say.
batching::World WorldOf(const v1::StreamBatchesRequest& request);

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_SPEC_CONVERT_H_
