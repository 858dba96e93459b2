#include "proto/wire/batch_encoder.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/base/crc32c.h"
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

// What stands in front of a body of 1 byte or more, but for the body's tag and length.
struct Front {
  std::string header;  // the field, where the part has one
  v1::StreamBatchesResponse rest;

  std::size_t bytes() const { return header.size() + rest.ByteSizeLong(); }
};

std::string TagOf(int field, std::size_t size) {
  std::uint8_t bytes[kBodyTagBytes];
  std::uint8_t* end = WireFormatLite::WriteTagToArray(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, bytes);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(size), end);
  return std::string(bytes, end);
}

Front FirstPart(const std::string& header, const BatchTiming& timing) {
  Front front{TagOf(v1::StreamBatchesResponse::kHeaderFieldNumber, header.size()) + header, {}};
  front.rest.set_header_crc32c(base::Crc32c(std::as_bytes(std::span(header))));
  *front.rest.mutable_timing() = ToMessage(timing);
  return front;
}

Front LaterPart(std::size_t number) {
  Front front;
  front.rest.set_part(static_cast<std::uint32_t>(number));
  return front;
}

// Bytes of the body that fit into a message that also holds `front` and `last`.
std::size_t RoomBeside(const Front& front, std::size_t max_message_bytes) {
  const std::size_t taken = front.bytes() + kLastBytes + kBodyTagBytes;
  return max_message_bytes > taken ? max_message_bytes - taken : 0;
}

EncodedPart Encode(Front front, std::span<const std::byte> body) {
  EncodedPart encoded{std::move(front.header), body};
  front.rest.AppendToString(&encoded.prefix);
  if (!body.empty()) encoded.prefix += BodyTag(body.size());
  return encoded;
}

}  // namespace

std::string BodyTag(std::size_t size) { return TagOf(v1::StreamBatchesResponse::kBodyFieldNumber, size); }

std::string EncodeHeader(const BatchHeader& header) { return ToMessage(header).SerializeAsString(); }

absl::StatusOr<std::vector<EncodedPart>> EncodeBatch(const std::string& header, const BatchTiming& timing,
                                                     std::span<const std::byte> body,
                                                     std::uint32_t max_message_bytes) {
  const std::size_t limit = std::min<std::size_t>(max_message_bytes, kMaxMessageBytes);
  std::vector<EncodedPart> parts;
  do {
    Front front = parts.empty() ? FirstPart(header, timing) : LaterPart(parts.size());
    const std::size_t room = RoomBeside(front, limit);
    if (room == 0) {
      return absl::InvalidArgumentError(absl::StrCat("max_message_bytes is ", max_message_bytes,
                                                     ", but the header of the batch alone takes ",
                                                     front.bytes(), "; ask for larger messages"));
    }
    const std::size_t size = std::min(room, body.size());
    if (size == body.size()) front.rest.set_last(true);
    parts.push_back(Encode(std::move(front), body.first(size)));
    body = body.subspan(size);
  } while (!body.empty());
  return parts;
}

}  // namespace packtrain::wire
