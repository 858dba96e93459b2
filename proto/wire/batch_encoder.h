// Cuts a batch into the messages that carry it, without a copy of its body. BatchAssembler is the other side.
//
//   ABSL_ASSIGN_OR_RETURN(const std::vector<EncodedPart> parts,
//                         EncodeBatch(EncodeHeader(header), timing, body, max_message_bytes));
//   for (const EncodedPart& part : parts) Write(part.prefix, part.body);
#ifndef PACKTRAIN_PROTO_WIRE_BATCH_ENCODER_H_
#define PACKTRAIN_PROTO_WIRE_BATCH_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::wire {

// `prefix` followed by `body` is one packtrain.v1.StreamBatchesResponse.
struct EncodedPart {
  std::string prefix;               // every field in front, and the tag and length of `body`
  std::span<const std::byte> body;  // a slice of the encoder's argument; not copied
};

// Tag and length in front of a field `body` of `size` bytes, which is field 15 wherever there is one.
std::string BodyTag(std::size_t size);

// The bytes of field `header`.
std::string EncodeHeader(const BatchHeader& header);

// The parts of a batch, in order, each of at most `max_message_bytes`. At least one, also for an empty body.
// `header` is EncodeHeader of the batch's header, and `body` has its body_bytes. INVALID_ARGUMENT:
// `max_message_bytes` leaves no room beside the header.
absl::StatusOr<std::vector<EncodedPart>> EncodeBatch(const std::string& header, const BatchTiming& timing,
                                                     std::span<const std::byte> body,
                                                     std::uint32_t max_message_bytes);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BATCH_ENCODER_H_
