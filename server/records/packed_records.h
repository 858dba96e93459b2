// Records in the packed form of the message that holds them, where they lie.
#ifndef PACKTRAIN_SERVER_RECORDS_PACKED_RECORDS_H_
#define PACKTRAIN_SERVER_RECORDS_PACKED_RECORDS_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace packtrain::records {

// A packed v1::RecordBlock in another message. Borrowed.
struct PackedBlock {
  std::string_view bytes;
  std::size_t count = 0;  // of records
};

// The block that field `field` of a packed message holds; none where the message has anything else, or not the
// form in which protobuf writes it.
std::optional<PackedBlock> FindPackedBlock(std::string_view packed, int field);

// The bytes of each record of a block that was found, in their order. Borrowed.
std::vector<std::string_view> RecordsOf(const PackedBlock& block);

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_PACKED_RECORDS_H_
