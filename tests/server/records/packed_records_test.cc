#include "server/records/packed_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::records {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr int kField = v1::ImportGraphsRequest::kRecordsFieldNumber;

std::string Packed(const std::vector<std::string>& records) {
  v1::ImportGraphsRequest request;
  request.mutable_records();
  for (const std::string& record : records) request.mutable_records()->add_records(record);
  return request.SerializeAsString();
}

TEST(PackedRecordsTest, AreThoseOfTheMessage) {
  const std::vector<std::string> records = {"first", "", std::string(300, 'x'), std::string("\0\n\x12", 3)};
  const std::string packed = Packed(records);
  const auto block = FindPackedBlock(packed, kField);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->count, records.size());
  EXPECT_THAT(RecordsOf(*block), ElementsAreArray(records));
  v1::RecordBlock parsed;
  ASSERT_TRUE(parsed.ParseFromString(std::string(block->bytes)));
  EXPECT_THAT(parsed.records(), ElementsAreArray(records));
}

TEST(PackedRecordsTest, ABlockMayBeEmpty) {
  const std::string packed = Packed({});
  const auto block = FindPackedBlock(packed, kField);
  ASSERT_TRUE(block.has_value());
  EXPECT_THAT(RecordsOf(*block), IsEmpty());
}

TEST(PackedRecordsTest, AreFoundInNoOtherMessage) {
  EXPECT_FALSE(FindPackedBlock("", kField).has_value());
  EXPECT_FALSE(FindPackedBlock(Packed({"a"}), kField + 1).has_value());
  v1::ImportGraphsRequest request;
  request.mutable_end()->set_graphs(3);
  EXPECT_FALSE(FindPackedBlock(request.SerializeAsString(), kField).has_value());
  request.mutable_block()->add_n_node(3);
  EXPECT_FALSE(FindPackedBlock(request.SerializeAsString(), kField).has_value());
}

TEST(PackedRecordsTest, AreNotFoundWhereTheMessageIsCutOffOrHasMore) {
  const std::string packed = Packed({"first", "second"});
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(FindPackedBlock(std::string_view(packed).substr(0, size), kField).has_value()) << size;
  EXPECT_FALSE(FindPackedBlock(packed + packed, kField).has_value()) << "protobuf would merge them";
  EXPECT_FALSE(FindPackedBlock(packed + '\0', kField).has_value());
  EXPECT_FALSE(FindPackedBlock(packed + "\x28\x01", kField).has_value()) << "a field that is not known";
}

TEST(PackedRecordsTest, AreNotFoundInABlockWithUnknownFields) {
  v1::ImportGraphsRequest request;
  request.mutable_records()->add_records("a");
  auto* const reflection = v1::RecordBlock::GetReflection();
  reflection->MutableUnknownFields(request.mutable_records())->AddVarint(7, 1);
  EXPECT_FALSE(FindPackedBlock(request.SerializeAsString(), kField).has_value());
}

// Whatever a changed byte makes of it: what is found is what protobuf reads.
TEST(PackedRecordsTest, AreThoseOfAnyMessageInWhichTheyAreFound) {
  const std::string packed = Packed({"first", "second", std::string(200, 'x')});
  int found = 0;
  for (std::size_t at = 0; at < 40; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = packed;
      changed[at] = static_cast<char>(value);
      const auto block = FindPackedBlock(changed, kField);
      if (!block) continue;
      ++found;
      v1::ImportGraphsRequest request;
      ASSERT_TRUE(request.ParseFromString(changed));
      EXPECT_THAT(RecordsOf(*block), ElementsAreArray(request.records().records()));
    }
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace packtrain::records
