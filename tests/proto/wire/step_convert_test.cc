#include "proto/wire/step_convert.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Every field different, so that swapped columns are seen.
StepRecord Record(std::uint64_t step) {
  StepRecord record;
  record.step = step;
  record.epoch = step + 1;
  record.batch_index = step + 2;
  const auto small = static_cast<std::uint32_t>(step);
  record.real = {small + 3, small + 4, small + 5};
  record.padded = {small + 6, small + 7, small + 8};
  record.wait_ns = step + 9;
  record.copy_ns = step + 10;
  record.forward_ns = step + 11;
  record.backward_ns = step + 12;
  record.optimizer_ns = step + 13;
  record.comm_ns = step + 14;
  record.total_ns = step + 15;
  record.server_build_ns = step + 16;
  record.server_queue_ns = step + 17;
  record.capture_ns = step + 18;
  record.flags = kWarmUp | kEvaluation;
  record.loss = 0.25 * static_cast<double>(step);
  return record;
}

v1::StepBlock ThreeSteps() {
  return ToStepBlock(std::vector<StepRecord>{Record(100), Record(200), Record(300)});
}

TEST(StepConvert, PutsEachFieldIntoItsColumn) {
  const v1::StepBlock block = ThreeSteps();
  EXPECT_EQ(block.step(1), 200u);
  EXPECT_EQ(block.epoch(1), 201u);
  EXPECT_EQ(block.batch_index(1), 202u);
  EXPECT_EQ(block.real_graphs(1), 203u);
  EXPECT_EQ(block.real_nodes(1), 204u);
  EXPECT_EQ(block.real_edges(1), 205u);
  EXPECT_EQ(block.padded_graphs(1), 206u);
  EXPECT_EQ(block.padded_nodes(1), 207u);
  EXPECT_EQ(block.padded_edges(1), 208u);
  EXPECT_EQ(block.wait_ns(1), 209u);
  EXPECT_EQ(block.copy_ns(1), 210u);
  EXPECT_EQ(block.forward_ns(1), 211u);
  EXPECT_EQ(block.backward_ns(1), 212u);
  EXPECT_EQ(block.optimizer_ns(1), 213u);
  EXPECT_EQ(block.comm_ns(1), 214u);
  EXPECT_EQ(block.total_ns(1), 215u);
  EXPECT_EQ(block.server_build_ns(1), 216u);
  EXPECT_EQ(block.server_queue_ns(1), 217u);
  EXPECT_EQ(block.capture_ns(1), 218u);
  EXPECT_EQ(block.flags(1), 33u);
  EXPECT_EQ(block.loss(1), 50.0);
}

TEST(StepConvert, ComesBackAsItWent) {
  const auto records = FromStepBlock(ThreeSteps());
  ASSERT_THAT(records, IsOk());
  EXPECT_EQ(ToStepBlock(*records).SerializeAsString(), ThreeSteps().SerializeAsString());
}

TEST(StepConvert, KeepsANotANumberLoss) {
  StepRecord record = Record(1);
  record.loss = std::numeric_limits<double>::quiet_NaN();
  const auto records = FromStepBlock(ToStepBlock({&record, 1}));
  ASSERT_THAT(records, IsOk());
  EXPECT_TRUE(std::isnan(records->at(0).loss));
}

TEST(StepConvert, TakesAnEmptyBlock) {
  const auto records = FromStepBlock(v1::StepBlock());
  ASSERT_THAT(records, IsOk());
  EXPECT_TRUE(records->empty());
}

TEST(StepConvert, RefusesColumnsOfUnequalLength) {
  v1::StepBlock longer = ThreeSteps();
  longer.add_loss(1);
  EXPECT_THAT(FromStepBlock(longer), StatusIs(absl::StatusCode::kInvalidArgument,
                                              AllOf(HasSubstr("loss has 4"), HasSubstr("step has 3"))));
  v1::StepBlock missing = ThreeSteps();
  missing.clear_total_ns();
  EXPECT_THAT(FromStepBlock(missing),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("total_ns has 0")));
}

TEST(StepConvert, RefusesStepsThatDoNotAscend) {
  for (std::uint64_t second : {100u, 99u}) {
    v1::StepBlock block = ThreeSteps();
    block.set_step(1, second);
    EXPECT_THAT(FromStepBlock(block),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("after step 100")));
  }
}

}  // namespace
}  // namespace packtrain::wire
