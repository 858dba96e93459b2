#include "proto/wire/batch_layout.h"

#include <gmock/gmock.h>

#include <cstring>

#include "proto/wire/batch.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EndpointType, IsTheSmallestThatHoldsEveryLocalIndex) {
  EXPECT_EQ(EndpointType(1), DType::kU8);
  EXPECT_EQ(EndpointType(256), DType::kU8);
  EXPECT_EQ(EndpointType(257), DType::kU16);
  EXPECT_EQ(EndpointType(65536), DType::kU16);
  EXPECT_EQ(EndpointType(65537), DType::kU32);
  EXPECT_EQ(EndpointType(0xffffffff), DType::kU32);
}

TEST(SizeOf, IsZeroForAValueThatIsNoType) { EXPECT_EQ(SizeOf(static_cast<DType>(99)), 0u); }

TEST(AllocateAligned, StartsAtAMultipleOfTheSectionAlignment) {
  for (std::size_t size : {0, 1, 63, 64, 65, 100000}) {
    const AlignedBytes bytes = AllocateAligned(size);
    ASSERT_NE(bytes, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.get()) % kSectionAlignment, 0u) << size;
  }
}

Batch TwoGraphs() {
  BatchHeader header;
  header.real = {2, 7, 0};
  header.body_bytes = 8;
  header.sections.push_back({std::string(kNodeCountSection), DType::kU32, {2}, 0, 8});
  const std::uint32_t n_node[] = {3, 4};
  AlignedBytes body = AllocateAligned(8);
  std::memcpy(body.get(), n_node, 8);
  return Batch(std::move(header), BatchTiming{}, std::move(body));
}

TEST(Batch, GivesElementsOfASection) {
  const Batch batch = TwoGraphs();
  ASSERT_THAT(batch.Elements<std::uint32_t>("n_node"), packtrain::testing::IsOk());
  EXPECT_THAT(*batch.Elements<std::uint32_t>("n_node"), ElementsAre(3, 4));
}

TEST(Batch, KeepsItsSectionsWhereTheyAreWhenMoved) {
  Batch batch = TwoGraphs();
  const std::byte* body = batch.body().data();
  const Batch moved = std::move(batch);
  EXPECT_EQ(moved.body().data(), body);
}

TEST(Batch, RefusesUnknownSectionsAndOtherElementSizes) {
  const Batch batch = TwoGraphs();
  EXPECT_THAT(batch.Elements<std::uint32_t>("pos"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"pos\"")));
  EXPECT_THAT(batch.Elements<double>("n_node"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("4 bytes, not 8")));
}

}  // namespace
}  // namespace packtrain::wire
