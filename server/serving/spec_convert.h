// Batch specs, worlds and shapes between the protocol's types and the planner's.
#ifndef PACKTRAIN_SERVER_SERVING_SPEC_CONVERT_H_
#define PACKTRAIN_SERVER_SERVING_SPEC_CONVERT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "server/batching/batch_spec.h"
#include "server/batching/plan.h"

namespace packtrain::serving {

// Fills in the defaults of enums; whether the numbers fit together is the planner's to say. Leaves `split`
// out. INVALID_ARGUMENT: no policy, or a value that this server does not know; the message names the field.
absl::StatusOr<batching::BatchSpec> FromProto(const v1::BatchSpec& spec);

// What a request's world_size means: 1 where it is absent.
std::uint32_t WorldSizeOrDefault(std::uint32_t requested);
// As requested; whether the segments fit the epoch is the planner's to say.
batching::World WorldOf(const v1::StreamBatchesRequest& request);

v1::Oversize ToProto(batching::Oversize oversize);
v1::Shape ToProto(const batching::Shape& shape);

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_SPEC_CONVERT_H_
