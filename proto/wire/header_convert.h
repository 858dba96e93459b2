// Batch headers as messages.
#ifndef PACKTRAIN_PROTO_WIRE_HEADER_CONVERT_H_
#define PACKTRAIN_PROTO_WIRE_HEADER_CONVERT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::wire {

v1::BatchHeader ToMessage(const BatchHeader& header);
v1::BatchTiming ToMessage(const BatchTiming& timing);

// The header, after CheckHeader. Also DATA_LOSS: a data type, edge rule or encoding that is not known here.
absl::StatusOr<BatchHeader> FromMessage(const v1::BatchHeader& message, std::uint64_t max_body_bytes);
BatchTiming FromMessage(const v1::BatchTiming& message);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_HEADER_CONVERT_H_
