#include "server/batches/stream_request.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

v1::StreamBatchesRequest Request() {
  v1::StreamBatchesRequest request;
  request.set_dataset("molecules@1");
  request.mutable_spec()->set_policy(v1::POLICY_STATIC);
  request.mutable_spec()->set_graphs(7);
  request.mutable_spec()->set_split("val");
  return request;
}

TEST(StreamRequestTest, HoldsWhatTheRequestSays) {
  v1::StreamBatchesRequest request = Request();
  request.set_rank(1);
  request.set_world_size(3);
  request.set_start_epoch(4);
  request.set_start_step(5);
  request.set_epochs(6);
  request.set_on_corrupt(v1::ON_CORRUPT_SKIP);
  request.set_expected_fingerprint("f");
  request.set_max_message_bytes(5000);
  request.add_segments()->set_world_size(2);
  request.mutable_segments(0)->set_steps(5);
  const auto checked = StreamRequest::Create(request);
  ASSERT_THAT(checked, IsOk());
  EXPECT_EQ(checked->spec.dataset, "molecules@1");
  EXPECT_EQ(checked->spec.split, "val");
  EXPECT_EQ(checked->spec.spec.graphs, 7);
  EXPECT_EQ(checked->range.rank, 1);
  EXPECT_EQ(checked->range.world, (wire::World{3, {{2, 5}}}));
  EXPECT_EQ(checked->range.start_epoch, 4);
  EXPECT_EQ(checked->range.start_step, 5);
  EXPECT_EQ(checked->range.epochs, 6);
  EXPECT_TRUE(checked->range.skip_corrupt);
  EXPECT_EQ(checked->expected_fingerprint, "f");
  EXPECT_EQ(checked->max_part_bytes, 5000);
}

TEST(StreamRequestTest, WhatIsAbsentHasItsDefault) {
  const auto checked = StreamRequest::Create(Request());
  ASSERT_THAT(checked, IsOk());
  EXPECT_EQ(checked->range.world.size, 1);
  EXPECT_FALSE(checked->range.skip_corrupt);
  EXPECT_GT(checked->max_part_bytes, 3 << 20);
  EXPECT_LT(checked->max_part_bytes, 4 << 20);
}

// Each of these is told without a data set being looked at.
TEST(StreamRequestTest, AFieldThatCannotBeIsRefusedByName) {
  struct Mistake {
    std::function<void(v1::StreamBatchesRequest&)> make;
    std::string said;
  };
  for (const Mistake& mistake : std::vector<Mistake>{
           {[](auto& request) { request.clear_dataset(); }, "dataset is missing"},
           {[](auto& request) { request.mutable_spec()->clear_policy(); }, "spec.policy is missing"},
           {[](auto& request) { request.mutable_spec()->set_graphs(0); }, "--graphs"},
           {[](auto& request) { request.mutable_spec()->set_order(static_cast<v1::Order>(77)); }, "spec.order"},
           {[](auto& request) { request.set_on_corrupt(static_cast<v1::OnCorrupt>(9)); }, "on_corrupt = 9"},
           {[](auto& request) { request.set_max_message_bytes(4095); }, "max_message_bytes 4095"},
           {[](auto& request) { request.set_rank(1); }, "rank 1 is not below world_size 1"},
           {[](auto& request) { request.add_segments()->set_steps(1); },
            "segments[0] has 1 steps of 0 ranks"}}) {
    v1::StreamBatchesRequest request = Request();
    mistake.make(request);
    EXPECT_THAT(StreamRequest::Create(request),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(mistake.said)));
  }
}

}  // namespace
}  // namespace packtrain::batches
