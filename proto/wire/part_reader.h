// Reads one message of a batch stream up to the bytes of its body.
#ifndef PACKTRAIN_PROTO_WIRE_PART_READER_H_
#define PACKTRAIN_PROTO_WIRE_PART_READER_H_

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace packtrain::wire {

// The fields of a packtrain.v1.StreamBatchesResponse, nested messages as bytes, without the body.
struct PartFields {
  std::optional<std::string> header;
  std::optional<std::uint32_t> header_crc32c;
  std::optional<std::string> timing;
  std::uint32_t part = 0;
  bool last = false;
  std::uint64_t body_bytes = 0;
};

// Reads the fields of a message of `message_bytes`, at whose start `input` stands. On success exactly
// `body_bytes` bytes are left to read, and they are there. Unknown fields are skipped. DATA_LOSS: not a
// protobuf message, a nested message twice, or fields behind the body.
absl::StatusOr<PartFields> ReadPart(google::protobuf::io::CodedInputStream* input, std::uint64_t message_bytes);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_PART_READER_H_
