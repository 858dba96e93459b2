// What a message takes in memory once it is decoded, found out from its packed form, where each byte of it may
// stand for forty.
#ifndef PACKTRAIN_SERVER_SERVING_DECODED_BYTES_H_
#define PACKTRAIN_SERVER_SERVING_DECODED_BYTES_H_

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace packtrain::serving {

// A bound of the memory that decoding `packed` as `type` takes at its peak, and the message afterwards.
// Allocates nothing that grows with `packed`. INVALID_ARGUMENT: it is no such message, or a repeated field of
// one message in it has more than `max_elements` numbers.
absl::StatusOr<std::uint64_t> DecodedBytes(const google::protobuf::Descriptor& type, std::string_view packed,
                                           std::uint64_t max_elements);

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_DECODED_BYTES_H_
