#include "proto/wire/part_reader.h"

#include <google/protobuf/wire_format_lite.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packtrain/v1/batch.pb.h"

namespace packtrain::wire {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Message = v1::StreamBatchesResponse;

constexpr std::uint32_t Tag(int field, WireFormatLite::WireType type) {
  return WireFormatLite::MakeTag(field, type);
}

constexpr auto kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;
constexpr std::uint32_t kHeaderTag = Tag(Message::kHeaderFieldNumber, kBytes);
constexpr std::uint32_t kTimingTag = Tag(Message::kTimingFieldNumber, kBytes);
constexpr std::uint32_t kPartTag = Tag(Message::kPartFieldNumber, kVarint);
constexpr std::uint32_t kLastTag = Tag(Message::kLastFieldNumber, kVarint);
constexpr std::uint32_t kHeaderCrcTag =
    Tag(Message::kHeaderCrc32CFieldNumber, WireFormatLite::WIRETYPE_FIXED32);
constexpr std::uint32_t kBodyTag = Tag(Message::kBodyFieldNumber, kBytes);

// Functions are false where the bytes end too early or are not what they should be.
class PartReader {
 public:
  PartReader(CodedInputStream* input, std::uint64_t message_bytes)
      : input_(*input), message_bytes_(message_bytes) {}

  std::uint64_t BytesLeft() const {
    return message_bytes_ - static_cast<std::uint64_t>(input_.CurrentPosition());
  }

  bool ReadField(std::uint32_t tag, PartFields* fields) {
    switch (tag) {
      case kHeaderTag:
        return ReadMessage(&fields->header);
      case kTimingTag:
        return ReadMessage(&fields->timing);
      case kPartTag:
        return input_.ReadVarint32(&fields->part);
      case kLastTag:
        return ReadFlag(&fields->last);
      case kHeaderCrcTag:
        return input_.ReadLittleEndian32(&fields->header_crc32c.emplace());
      case kBodyTag:
        return input_.ReadVarint64(&fields->body_bytes);
      default:
        return WireFormatLite::SkipField(&input_, tag);
    }
  }

 private:
  bool ReadMessage(std::optional<std::string>* bytes) {
    std::uint64_t size;
    // Compared before it sizes an allocation.
    if (bytes->has_value() || !input_.ReadVarint64(&size) || size > BytesLeft()) return false;
    return input_.ReadString(&bytes->emplace(), static_cast<int>(size));
  }

  bool ReadFlag(bool* flag) {
    std::uint64_t number;
    if (!input_.ReadVarint64(&number)) return false;
    *flag = number != 0;
    return true;
  }

  CodedInputStream& input_;
  const std::uint64_t message_bytes_;
};

}  // namespace

absl::StatusOr<PartFields> ReadPart(CodedInputStream* input, std::uint64_t message_bytes) {
  PartReader reader(input, message_bytes);
  PartFields fields;
  for (std::uint32_t tag = 0; tag != kBodyTag;) {
    tag = input->ReadTag();
    if (tag == 0 && input->ConsumedEntireMessage()) break;
    if (tag == 0 || !reader.ReadField(tag, &fields)) {
      return absl::DataLossError(absl::StrCat("batch part: not a protobuf message near byte ",
                                              input->CurrentPosition(), " of ", message_bytes));
    }
  }
  if (fields.body_bytes == reader.BytesLeft()) return fields;
  return absl::DataLossError(absl::StrCat("batch part: a body of ", fields.body_bytes, " bytes where ",
                                          reader.BytesLeft(), " bytes follow"));
}

}  // namespace packtrain::wire
