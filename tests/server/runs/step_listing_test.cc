#include "server/runs/step_listing.h"

#include <gmock/gmock.h>

#include "proto/wire/step_convert.h"
#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<v1::ListStepsResponse> Listed(const RunStore& store, const v1::ListStepsRequest& request) {
  std::vector<v1::ListStepsResponse> blocks;
  EXPECT_THAT(ListSteps(store, request,
                        [&blocks](const v1::ListStepsResponse& block) {
                          blocks.push_back(block);
                          return absl::OkStatus();
                        }),
              IsOk());
  return blocks;
}

v1::ListStepsRequest RequestFor(const std::string& run) {
  v1::ListStepsRequest request;
  request.set_run(run);
  return request;
}

TEST(StepListing, RanksTakeTurnsByWindowsOfSteps) {
  TestRunStore store;
  v1::StartRunRequest start = StartRequest("key-00000001");
  start.mutable_description()->set_world_size(2);
  const Reporter rank_0 = StartRun(*store, start);
  start.set_rank(1);
  const Reporter rank_1 = StartRun(*store, start);
  ASSERT_THAT(store->AddSteps(rank_0, Steps(0, 2999)), IsOk());
  ASSERT_THAT(store->AddSteps(rank_1, Steps(0, 2999)), IsOk());
  std::vector<StoredStep> blocks;  // by their first step
  std::vector<int> rows;
  for (const v1::ListStepsResponse& block : Listed(*store, RequestFor(rank_0.run))) {
    blocks.push_back({block.rank(), block.attempt(), block.steps().step(0)});
    rows.push_back(block.steps().step_size());
  }
  EXPECT_THAT(blocks, ElementsAre(StoredStep{0, 0, 0}, StoredStep{1, 0, 0}, StoredStep{0, 0, 2000},
                                  StoredStep{1, 0, 2000}));
  EXPECT_THAT(rows, ElementsAre(2000, 2000, 1000, 1000));
}

TEST(StepListing, OnlyTheLastAttemptIsListedUnlessAllAreWanted) {
  TestRunStore store;
  const v1::StartRunRequest start = StartRequest("key-00000001");
  const Reporter first = StartRun(*store, start);
  const Reporter second = StartRun(*store, start);
  ASSERT_THAT(store->AddSteps(first, Steps(0, 9)), IsOk());
  ASSERT_THAT(store->AddSteps(second, Steps(5, 9)), IsOk());
  v1::ListStepsRequest request = RequestFor(first.run);
  std::vector<v1::ListStepsResponse> blocks = Listed(*store, request);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_THAT(blocks[0].steps().step(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(blocks[1].steps().step(), ElementsAre(5, 6, 7, 8, 9));
  request.set_all_attempts(true);
  blocks = Listed(*store, request);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_EQ(blocks[0].steps().step_size(), 10);
  EXPECT_EQ(blocks[1].attempt(), 1u);
  EXPECT_EQ(blocks[1].steps().step_size(), 5);
}

TEST(StepListing, FewerPointsKeepThePeaks) {
  TestRunStore store;
  const Reporter rank = StartRun(*store, StartRequest("key-00000001"));
  std::vector<wire::StepRecord> steps = Steps(0, 99);
  steps[42].total_ns = 9'000'000;
  steps[77].total_ns = 1;
  ASSERT_THAT(store->AddSteps(rank, steps), IsOk());
  v1::ListStepsRequest request = RequestFor(rank.run);
  request.set_max_points(4);
  const std::vector<v1::ListStepsResponse> blocks = Listed(*store, request);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_THAT(blocks[0].steps().step(), ElementsAre(0, 42, 50, 77));
}

TEST(StepListing, AnUnknownRunIsNotFound) {
  TestRunStore store;
  EXPECT_THAT(ListSteps(*store, RequestFor("nobody"), [](const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(StepListing, ASinkEndsTheListing) {
  TestRunStore store;
  const Reporter rank = StartRun(*store, StartRequest("key-00000001"));
  ASSERT_THAT(store->AddSteps(rank, Steps(0, 5000)), IsOk());
  int calls = 0;
  EXPECT_THAT(ListSteps(*store, RequestFor(rank.run),
                        [&calls](const auto&) {
                          ++calls;
                          return absl::CancelledError("gone");
                        }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace packtrain::runs
