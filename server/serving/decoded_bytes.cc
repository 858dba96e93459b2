#include "server/serving/decoded_bytes.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::serving {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// As protobuf's own limit.
constexpr int kMaxDepth = 100;

// Of objects, each with what the allocator adds.
constexpr std::uint64_t kMessageBytes = 64;
constexpr std::uint64_t kFieldBytes = 32;
constexpr std::uint64_t kTextBytes = 80;
constexpr std::uint64_t kMapEntryBytes = 256;
constexpr std::uint64_t kUnknownBytes = 96;
// An array that grows is copied to one of twice its size.
constexpr std::uint64_t kGrowth = 3;

enum WireType { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

std::uint64_t SizeOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return 8;
    case FieldDescriptor::CPPTYPE_BOOL:
      return 1;
    default:
      return 4;
  }
}

// Packed numbers of the field in `bytes`.
std::uint64_t NumbersIn(const FieldDescriptor& field, std::string_view bytes) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return bytes.size() / 8;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return bytes.size() / 4;
    default:  // each varint has one byte without the bit that says that it goes on
      return static_cast<std::uint64_t>(std::count_if(
          bytes.begin(), bytes.end(), [](char c) { return (static_cast<unsigned char>(c) & 0x80) == 0; }));
  }
}

std::optional<std::uint64_t> TakeVarint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Take(std::string_view& bytes, std::uint64_t size) {
  if (size > bytes.size()) return std::nullopt;
  const std::string_view taken = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return taken;
}

absl::Status NoMessage(const Descriptor& type) {
  return absl::InvalidArgumentError(absl::StrCat("the request holds no valid ", type.full_name()));
}

// Walks one request.
class Walk {
 public:
  explicit Walk(std::uint64_t max_elements) : max_elements_(max_elements) {}

  std::uint64_t bytes() const { return bytes_; }

  absl::Status Message(const Descriptor& type, std::string_view packed, int depth) {
    if (depth == kMaxDepth) return NoMessage(type);
    bytes_ += kMessageBytes + kFieldBytes * static_cast<std::uint64_t>(type.field_count());
    std::uint64_t numbers = 0;  // of the field before
    int before = 0;
    while (!packed.empty()) {
      const std::optional<std::uint64_t> tag = TakeVarint(packed);
      if (!tag.has_value() || *tag >> 3 == 0 || *tag >> 32 != 0) return NoMessage(type);
      const int number = static_cast<int>(*tag >> 3);
      if (number != before) numbers = 0;
      before = number;
      ABSL_RETURN_IF_ERROR(Field(type, number, static_cast<int>(*tag & 7), packed, numbers, depth));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Field(const Descriptor& type, int number, int wire_type, std::string_view& packed,
                     std::uint64_t& numbers, int depth) {
    const FieldDescriptor* const field = type.FindFieldByNumber(number);
    if (wire_type == kLength) {
      const std::optional<std::uint64_t> size = TakeVarint(packed);
      const std::optional<std::string_view> inner = size ? Take(packed, *size) : std::nullopt;
      return inner ? Inner(field, *inner, numbers, depth) : NoMessage(type);
    }
    bytes_ += field == nullptr ? kUnknownBytes : 0;
    if (field != nullptr && field->is_repeated()) {
      ABSL_RETURN_IF_ERROR(Numbers(*field, 1, numbers));
    }
    switch (wire_type) {
      case kVarint:
        return TakeVarint(packed) ? absl::OkStatus() : NoMessage(type);
      case kFixed64:
        return Take(packed, 8) ? absl::OkStatus() : NoMessage(type);
      case kFixed32:
        return Take(packed, 4) ? absl::OkStatus() : NoMessage(type);
      default:  // groups are not used
        return NoMessage(type);
    }
  }

  // What has a length.
  absl::Status Inner(const FieldDescriptor* field, std::string_view inner, std::uint64_t& numbers, int depth) {
    if (field == nullptr) {
      bytes_ += kUnknownBytes + inner.size();
      return absl::OkStatus();
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      bytes_ += field->is_map() ? kMapEntryBytes : kFieldBytes;
      return Message(*field->message_type(), inner, depth + 1);
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      bytes_ += kTextBytes + inner.size();
      return absl::OkStatus();
    }
    return Numbers(*field, NumbersIn(*field, inner), numbers);
  }

  absl::Status Numbers(const FieldDescriptor& field, std::uint64_t count, std::uint64_t& numbers) {
    numbers += count;
    bytes_ += kGrowth * SizeOf(field) * count;
    if (numbers <= max_elements_) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the request holds at least ", numbers, " values of ",
                                                   field.name(), ", at most ", max_elements_,
                                                   " are taken at once"));
  }

  const std::uint64_t max_elements_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::uint64_t> DecodedBytes(const Descriptor& type, std::string_view packed,
                                           std::uint64_t max_elements) {
  Walk walk(max_elements);
  ABSL_RETURN_IF_ERROR(walk.Message(type, packed, 0));
  return walk.bytes();
}

}  // namespace packtrain::serving
