#include "server/analysis/step_listing.h"

#include <gmock/gmock.h>

#include <tuple>
#include <vector>

#include "tests/server/analysis/reported_run.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::analysis {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<v1::ListStepsResponse> Listed(const ReportedRun& run, const v1::ListStepsRequest& request = {}) {
  std::vector<v1::ListStepsResponse> blocks;
  EXPECT_THAT(ListSteps(run.AllSteps(), run.Counted(), request,
                        [&blocks](const v1::ListStepsResponse& block) {
                          blocks.push_back(block);
                          return absl::OkStatus();
                        }),
              IsOk());
  return blocks;
}

// A block by its rank, its attempt and its first step.
using Begin = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;

TEST(StepListing, RanksTakeTurnsByWindowsOfSteps) {
  ReportedRun run("run", 2);
  run.AddSteps({.rank = 0}, Steps(0, 2999));
  run.AddSteps({.rank = 1}, Steps(0, 2999));
  std::vector<Begin> blocks;
  std::vector<int> rows;
  for (const v1::ListStepsResponse& block : Listed(run)) {
    blocks.emplace_back(block.rank(), block.attempt(), block.steps().step(0));
    rows.push_back(block.steps().step_size());
  }
  EXPECT_THAT(blocks, ElementsAre(Begin(0, 0, 0), Begin(1, 0, 0), Begin(0, 0, 2000), Begin(1, 0, 2000)));
  EXPECT_THAT(rows, ElementsAre(2000, 2000, 1000, 1000));
}

TEST(StepListing, OnlyTheLastAttemptIsListedUnlessAllAreWanted) {
  ReportedRun run;
  run.AddSteps({.attempt = 0}, Steps(0, 9));
  run.AddSteps({.attempt = 1}, Steps(5, 9));
  std::vector<v1::ListStepsResponse> blocks = Listed(run);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_THAT(blocks[0].steps().step(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(blocks[1].steps().step(), ElementsAre(5, 6, 7, 8, 9));
  v1::ListStepsRequest request;
  request.set_all_attempts(true);
  blocks = Listed(run, request);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_EQ(blocks[0].steps().step_size(), 10);
  EXPECT_EQ(blocks[1].attempt(), 1u);
  EXPECT_EQ(blocks[1].steps().step_size(), 5);
}

TEST(StepListing, ARangeOfStepsIsListedAlone) {
  ReportedRun run("run", 2);
  run.AddSteps({.rank = 0}, Steps(0, 9));
  run.AddSteps({.rank = 1}, Steps(0, 9));
  v1::ListStepsRequest request;
  request.set_first_step(4);
  request.set_end_step(6);
  const std::vector<v1::ListStepsResponse> blocks = Listed(run, request);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_THAT(blocks[0].steps().step(), ElementsAre(4, 5));
  EXPECT_THAT(blocks[1].steps().step(), ElementsAre(4, 5));
  request.clear_first_step();
  request.set_end_step(0);
  EXPECT_THAT(Listed(run, request), SizeIs(0));
  request.set_first_step(9);
  request.clear_end_step();
  ASSERT_THAT(Listed(run, request), SizeIs(2));
}

TEST(StepListing, FewerPointsKeepThePeaks) {
  std::vector<wire::StepRecord> steps = Steps(0, 99);
  steps[42].total_ns = 9'000'000;
  steps[77].total_ns = 1;
  ReportedRun run;
  run.AddSteps({}, steps);
  v1::ListStepsRequest request;
  request.set_max_points(4);
  const std::vector<v1::ListStepsResponse> blocks = Listed(run, request);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_THAT(blocks[0].steps().step(), ElementsAre(0, 42, 50, 77));
}

TEST(StepListing, ASinkEndsTheListing) {
  ReportedRun run;
  run.AddSteps({}, Steps(0, 5000));
  int calls = 0;
  EXPECT_THAT(ListSteps(run.AllSteps(), run.Counted(), v1::ListStepsRequest(),
                        [&calls](const auto&) {
                          ++calls;
                          return absl::CancelledError("gone");
                        }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace packtrain::analysis
