#include "server/records/packed_records.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <limits>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::records {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// The fields of a packed message of which all are messages or bytes.
class Fields {
 public:
  explicit Fields(std::string_view packed)
      : packed_(packed),
        in_(reinterpret_cast<const std::uint8_t*>(packed.data()), static_cast<int>(packed.size())) {}

  bool at_end() const { return position() == packed_.size(); }

  // The bytes of the next field; none where that is another one than `field`, or is cut off.
  std::optional<std::string_view> Next(int field) {
    std::uint32_t bytes = 0;
    if (in_.ReadTag() != WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED) ||
        !in_.ReadVarint32(&bytes) || bytes > packed_.size() - position()) {
      return std::nullopt;
    }
    const std::string_view content = packed_.substr(position(), bytes);
    in_.Skip(static_cast<int>(bytes));
    return content;
  }

 private:
  std::size_t position() const { return static_cast<std::size_t>(in_.CurrentPosition()); }

  const std::string_view packed_;
  CodedInputStream in_;
};

}  // namespace

std::optional<PackedBlock> FindPackedBlock(std::string_view packed, int field) {
  if (packed.size() > std::numeric_limits<int>::max()) return std::nullopt;
  Fields outer(packed);
  const std::optional<std::string_view> bytes = outer.Next(field);
  if (!bytes || !outer.at_end()) return std::nullopt;
  PackedBlock block{*bytes};
  for (Fields records(*bytes); !records.at_end(); ++block.count) {
    if (!records.Next(v1::RecordBlock::kRecordsFieldNumber)) return std::nullopt;
  }
  return block;
}

std::vector<std::string_view> RecordsOf(const PackedBlock& block) {
  std::vector<std::string_view> records;
  records.reserve(block.count);
  Fields fields(block.bytes);
  while (!fields.at_end()) records.push_back(fields.Next(v1::RecordBlock::kRecordsFieldNumber).value());
  return records;
}

}  // namespace packtrain::records
