#include "server/runs/step_selection.h"

#include <gmock/gmock.h>

#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<StoredStep> Names(const std::vector<RankStep>& steps) {
  std::vector<StoredStep> names;
  for (const RankStep& step : steps) names.push_back({step.rank, step.attempt, step.record.step});
  return names;
}

std::vector<RankStep> LastAttempts(RunStore& store, const std::string& run) {
  absl::StatusOr<std::vector<RankStep>> steps = ReadAllSteps(store, run);
  EXPECT_THAT(steps, IsOk());
  return KeepLastAttempts(*std::move(steps));
}

TEST(StepSelection, ARunResumedTwiceHasEachStepOnceOfItsLastAttempt) {
  TestRunStore store;
  const v1::StartRunRequest request = StartRequest("key-00000001");
  const Reporter first = StartRun(*store, request);
  ASSERT_THAT(store->AddSteps(first, Steps(0, 5)), IsOk());
  const Reporter second = StartRun(*store, request);
  ASSERT_THAT(store->AddSteps(second, Steps(3, 6)), IsOk());
  const Reporter third = StartRun(*store, request);
  ASSERT_THAT(store->AddSteps(third, Steps(5, 5)), IsOk());
  EXPECT_THAT(Names(LastAttempts(*store, first.run)),
              ElementsAre(StoredStep{0, 0, 0}, StoredStep{0, 0, 1}, StoredStep{0, 0, 2}, StoredStep{0, 1, 3},
                          StoredStep{0, 1, 4}, StoredStep{0, 2, 5}, StoredStep{0, 1, 6}));
}

TEST(StepSelection, EachRankHasItsOwnLastAttempt) {
  TestRunStore store;
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(2);
  const Reporter rank_0 = StartRun(*store, request);
  const Reporter rank_0_again = StartRun(*store, request);
  request.set_rank(1);
  const Reporter rank_1 = StartRun(*store, request);
  ASSERT_THAT(store->AddSteps(rank_1, Steps(0, 1)), IsOk());
  ASSERT_THAT(store->AddSteps(rank_0, Steps(0, 1)), IsOk());
  ASSERT_THAT(store->AddSteps(rank_0_again, Steps(1, 1)), IsOk());
  EXPECT_THAT(Names(LastAttempts(*store, rank_0.run)),
              ElementsAre(StoredStep{0, 0, 0}, StoredStep{1, 0, 0}, StoredStep{0, 1, 1}, StoredStep{1, 0, 1}));
}

TEST(StepSelection, AnUnknownRunIsNotFound) {
  TestRunStore store;
  EXPECT_THAT(ReadAllSteps(*store, "nobody"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(StepSelection, AStepIsItsSlowestRankAndTheSumOfAllGraphs) {
  wire::StepRecord slow = Step(0, 2'000'000, wire::kCapture);
  slow.real = {1, 2, 3};
  const std::vector<TrainingStep> steps =
      JoinRanks({{0, 0, Step(0, 1'000'000)}, {1, 0, slow}, {0, 0, Step(1, 5)}});
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[0].ranks, 2u);
  EXPECT_EQ(steps[0].slowest.total_ns, 2'000'000u);
  EXPECT_EQ(steps[0].real.graphs, 33u);
  EXPECT_EQ(steps[0].real.nodes, 578u);
  EXPECT_EQ(steps[0].real.edges, 10'003u);
  EXPECT_FALSE(IsSteady(steps[0]));
  EXPECT_TRUE(IsComplete(steps[0], 2));
  EXPECT_FALSE(IsComplete(steps[1], 2));
}

TEST(StepSelection, WarmUpCaptureCheckpointAndEvaluationAreNotSteady) {
  const auto steady = [](std::uint32_t flags) { return IsSteady(JoinRanks({{0, 0, Step(0, 1, flags)}})[0]); };
  EXPECT_TRUE(steady(0));
  EXPECT_TRUE(steady(wire::kFirstOfEpoch | wire::kShortBatch));
  EXPECT_FALSE(steady(wire::kWarmUp));
  EXPECT_FALSE(steady(wire::kCapture));
  EXPECT_FALSE(steady(wire::kCheckpoint));
  EXPECT_FALSE(steady(wire::kEvaluation));
}

TEST(StepSelection, ATotalThatIsNoMeasurementMakesItsStepIncomplete) {
  const auto complete = [](std::uint64_t total_ns) {
    return IsComplete(JoinRanks({{0, 0, Step(0, total_ns)}, {1, 0, Step(0, 1'000'000)}})[0], 2);
  };
  EXPECT_TRUE(complete(1));
  EXPECT_TRUE(complete(std::uint64_t{1} << 53));
  EXPECT_FALSE(complete(0));
  EXPECT_FALSE(complete((std::uint64_t{1} << 53) + 1));
  EXPECT_FALSE(complete(std::uint64_t{1} << 63));
}

TEST(StepSelection, APhaseThatIsNoMeasurementMakesItsStepIncomplete) {
  wire::StepRecord record = Step(0, 1'000'000);
  EXPECT_TRUE(IsComplete(JoinRanks({{0, 0, record}})[0], 1));
  record.server_queue_ns = std::uint64_t{1} << 63;
  EXPECT_FALSE(IsComplete(JoinRanks({{0, 0, record}})[0], 1));
}

}  // namespace
}  // namespace packtrain::runs
