#include "client/internal/stream_position.h"

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

wire::BatchHeader Header(std::uint64_t epoch, std::uint64_t step, std::uint64_t epoch_steps) {
  wire::BatchHeader header;
  header.epoch = epoch;
  header.step = step;
  header.epoch_steps = epoch_steps;
  header.rank = 1;
  header.world_size = 2;
  header.index = step * 2 + 1;
  header.fingerprint = "f00d";
  return header;
}

StreamRequest Request(std::uint64_t epoch, std::uint64_t step, std::uint64_t epochs) {
  StreamRequest request;
  request.rank = 1;
  request.world_size = 2;
  request.start_epoch = epoch;
  request.start_step = step;
  request.epochs = epochs;
  return request;
}

TEST(StreamPosition, WalksThroughEpochsOfDifferentLength) {
  StreamPosition position(Request(3, 0, 2));
  ASSERT_THAT(position.Advance(Header(3, 0, 2)), IsOk());
  ASSERT_THAT(position.Advance(Header(3, 1, 2)), IsOk());
  EXPECT_EQ(position.epoch(), 4u);
  EXPECT_EQ(position.step(), 0u);
  EXPECT_EQ(position.epochs_left(), 1u);
  EXPECT_FALSE(position.AtEnd());
  EXPECT_THAT(position.CheckEnd(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("epoch 4, step 0")));
  ASSERT_THAT(position.Advance(Header(4, 0, 1)), IsOk());
  EXPECT_TRUE(position.AtEnd());
  EXPECT_THAT(position.CheckEnd(), IsOk());
  EXPECT_THAT(position.Advance(Header(5, 0, 1)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("after the last")));
}

TEST(StreamPosition, NeverEndsWithoutANumberOfEpochs) {
  StreamPosition position(Request(0, 0, 0));
  ASSERT_THAT(position.Advance(Header(0, 0, 1)), IsOk());
  EXPECT_FALSE(position.AtEnd());
  EXPECT_EQ(position.epochs_left(), 0u);
  EXPECT_THAT(position.CheckEnd(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StreamPosition, MayBeginWithTheNextEpochAfterTheLastStep) {
  StreamPosition position(Request(0, 5, 2));
  EXPECT_THAT(position.Advance(Header(1, 0, 5)), IsOk());
  EXPECT_EQ(position.epoch(), 1u);
  EXPECT_EQ(position.step(), 1u);
}

TEST(StreamPosition, MayBeEmptyAfterTheLastStepOfTheLastEpoch) {
  StreamPosition position(Request(0, 5, 1));
  EXPECT_THAT(position.CheckEnd(), IsOk());
  EXPECT_THAT(position.Advance(Header(1, 0, 5)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StreamPosition, RefusesABatchThatIsNotDue) {
  StreamPosition position(Request(0, 0, 2));
  EXPECT_THAT(position.Advance(Header(0, 1, 4)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("epoch 0, step 1 came where epoch 0, step 0")));
  EXPECT_THAT(position.Advance(Header(1, 0, 4)), StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_THAT(position.Advance(Header(0, 0, 4)), IsOk());
  EXPECT_THAT(position.Advance(Header(0, 0, 4)), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(position.Advance(Header(1, 0, 4)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StreamPosition, RefusesAnotherRank) {
  StreamPosition position(Request(0, 0, 1));
  wire::BatchHeader header = Header(0, 0, 4);
  header.rank = 0;
  header.index = 0;
  EXPECT_THAT(position.Advance(header), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("rank 0 of 2")));
  header = Header(0, 0, 4);
  header.world_size = 3;
  EXPECT_THAT(position.Advance(header), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StreamPosition, RefusesAnEpochThatChangesItsLength) {
  StreamPosition position(Request(0, 0, 1));
  ASSERT_THAT(position.Advance(Header(0, 0, 4)), IsOk());
  EXPECT_THAT(position.Advance(Header(0, 1, 5)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("had 4 steps")));
}

TEST(StreamPosition, RefusesAnotherIndex) {
  StreamPosition position(Request(0, 2, 1));
  wire::BatchHeader header = Header(0, 2, 4);
  header.index = 6;
  EXPECT_THAT(position.Advance(header),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("batch 6 came where batch 5 was due")));
}

TEST(StreamPosition, CountsBatchesBehindSegmentsOfTheFirstEpoch) {
  StreamRequest request = Request(1, 5, 0);
  request.segments = {{.world_size = 4, .steps = 3}, {.world_size = 1, .steps = 1}};
  StreamPosition position(request);
  wire::BatchHeader header = Header(1, 5, 7);
  header.index = 4 * 3 + 1 + 2 + 1;  // one step of these two ranks lies behind, and this is rank 1
  ASSERT_THAT(position.Advance(header), IsOk());
  EXPECT_EQ(position.segments(), request.segments);
  header = Header(1, 6, 7);
  header.index = 4 * 3 + 1 + 4 + 1;
  ASSERT_THAT(position.Advance(header), IsOk());
  EXPECT_TRUE(position.segments().empty()) << "of the next epoch";
  EXPECT_THAT(position.Advance(Header(2, 0, 9)), IsOk());
}

TEST(StreamPosition, TakesABatchWithoutGraphsOnlyWhereThatWasAskedFor) {
  wire::BatchHeader header = Header(0, 0, 3);
  header.corrupt_graphs = {4, 9};
  StreamRequest request = Request(0, 0, 1);
  EXPECT_THAT(StreamPosition(request).Advance(header),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("without 2 of its graphs")));
  request.on_corrupt = OnCorrupt::kSkip;
  EXPECT_THAT(StreamPosition(request).Advance(header), IsOk());
}

TEST(StreamPosition, RefusesAnotherPlan) {
  StreamPosition position(Request(0, 0, 1));
  ASSERT_THAT(position.Advance(Header(0, 0, 4)), IsOk());
  EXPECT_EQ(position.fingerprint(), "f00d");
  wire::BatchHeader header = Header(0, 1, 4);
  header.fingerprint = "beef";
  EXPECT_THAT(position.Advance(header), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("beef")));

  StreamRequest request = Request(0, 0, 1);
  request.expected_fingerprint = "cafe";
  StreamPosition expecting(request);
  EXPECT_THAT(expecting.Advance(Header(0, 0, 4)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cafe")));
}

}  // namespace
}  // namespace packtrain::client
