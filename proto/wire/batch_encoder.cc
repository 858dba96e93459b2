#include "proto/wire/batch_encoder.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/wire/crc32c.h"
#include "proto/wire/header_convert.h"

namespace packtrain::wire {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// Protobuf's own limit of a message.
constexpr std::size_t kMaxMessageBytes = std::numeric_limits<std::int32_t>::max();
// Tag of `body`, and its length where that is longest.
constexpr std::size_t kBodyTagBytes = 1 + 5;
// The field `last`.
constexpr std::size_t kLastBytes = 2;

v1::StreamBatchesResponse FirstPart(const BatchHeader& header, const BatchTiming& timing) {
  v1::StreamBatchesResponse part;
  *part.mutable_header() = ToMessage(header);
  const std::string header_bytes = part.header().SerializeAsString();
  part.set_header_crc32c(Crc32c(std::as_bytes(std::span(header_bytes))));
  *part.mutable_timing() = ToMessage(timing);
  return part;
}

v1::StreamBatchesResponse LaterPart(std::size_t number) {
  v1::StreamBatchesResponse part;
  part.set_part(static_cast<std::uint32_t>(number));
  return part;
}

// Bytes of the body that fit into a message that also holds the fields of `part` and `last`.
std::size_t RoomBeside(const v1::StreamBatchesResponse& part, std::size_t max_message_bytes) {
  const std::size_t taken = part.ByteSizeLong() + kLastBytes + kBodyTagBytes;
  return max_message_bytes > taken ? max_message_bytes - taken : 0;
}

EncodedPart Encode(const v1::StreamBatchesResponse& part, std::span<const std::byte> body) {
  EncodedPart encoded{part.SerializeAsString(), body};
  if (!body.empty()) encoded.prefix += BodyTag(body.size());
  return encoded;
}

}  // namespace

std::string BodyTag(std::size_t size) {
  std::uint8_t bytes[kBodyTagBytes];
  std::uint8_t* end = WireFormatLite::WriteTagToArray(v1::StreamBatchesResponse::kBodyFieldNumber,
                                                      WireFormatLite::WIRETYPE_LENGTH_DELIMITED, bytes);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(size), end);
  return std::string(bytes, end);
}

absl::StatusOr<std::vector<EncodedPart>> EncodeBatch(const BatchHeader& header, const BatchTiming& timing,
                                                     std::span<const std::byte> body,
                                                     std::uint32_t max_message_bytes) {
  if (body.size() != header.body_bytes) {
    return absl::InternalError(
        absl::StrCat("a body of ", body.size(), " bytes under a header of body_bytes ", header.body_bytes));
  }
  const std::size_t limit = std::min<std::size_t>(max_message_bytes, kMaxMessageBytes);
  std::vector<EncodedPart> parts;
  do {
    v1::StreamBatchesResponse part = parts.empty() ? FirstPart(header, timing) : LaterPart(parts.size());
    const std::size_t room = RoomBeside(part, limit);
    if (room == 0) {
      return absl::InvalidArgumentError(absl::StrCat("max_message_bytes is ", max_message_bytes,
                                                     ", but the header of the batch alone takes ",
                                                     part.ByteSizeLong(), "; ask for larger messages"));
    }
    const std::size_t size = std::min(room, body.size());
    part.set_last(size == body.size());
    parts.push_back(Encode(part, body.first(size)));
    body = body.subspan(size);
  } while (!body.empty());
  return parts;
}

}  // namespace packtrain::wire
