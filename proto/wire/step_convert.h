// Step records as columns on the wire.
#ifndef PACKTRAIN_PROTO_WIRE_STEP_CONVERT_H_
#define PACKTRAIN_PROTO_WIRE_STEP_CONVERT_H_

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_columns.h"

namespace packtrain::wire {

v1::StepBlock ToStepBlock(std::span<const StepRecord> records);

// INVALID_ARGUMENT: columns of unequal length, or steps that do not strictly ascend.
absl::StatusOr<std::vector<StepRecord>> FromStepBlock(const v1::StepBlock& block);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_STEP_CONVERT_H_
