// Batch specs between the protocol's type and the planner's.
#ifndef PACKTRAIN_SERVER_SERVING_SPEC_CONVERT_H_
#define PACKTRAIN_SERVER_SERVING_SPEC_CONVERT_H_

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "server/batching/batch_spec.h"
#include "server/batching/plan.h"

namespace packtrain::serving {

// Fills in the defaults of enums; whether the numbers fit together is the planner's to say. Leaves `split`
// out. INVALID_ARGUMENT: no policy, or a value that this server does not know; the message names the field.
absl::StatusOr<batching::BatchSpec> FromProto(const v1::BatchSpec& spec);

v1::Oversize ToProto(batching::Oversize oversize);
v1::Shape ToProto(const batching::Shape& shape);

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_SPEC_CONVERT_H_
