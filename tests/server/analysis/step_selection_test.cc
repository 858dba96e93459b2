#include "server/analysis/step_selection.h"

#include <gmock/gmock.h>

#include <tuple>
#include <vector>

#include "tests/server/analysis/reported_run.h"

namespace packtrain::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// A step by its rank, its attempt and its number.
using Name = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;

std::vector<Name> Names(const std::vector<RankStep>& steps) {
  std::vector<Name> names;
  for (const RankStep& step : steps) names.emplace_back(step.rank, step.attempt, step.record.step);
  return names;
}

TEST(StepSelection, ARunResumedTwiceHasEachStepOnceOfItsLastAttempt) {
  ReportedRun run;
  run.AddSteps({.attempt = 0}, Steps(0, 5));
  run.AddSteps({.attempt = 1}, Steps(3, 6));
  run.AddSteps({.attempt = 2}, Steps(5, 5));
  EXPECT_THAT(Names(run.Load().of_ranks), ElementsAre(Name(0, 0, 0), Name(0, 0, 1), Name(0, 0, 2),
                                                      Name(0, 1, 3), Name(0, 1, 4), Name(0, 2, 5)));
}

TEST(StepSelection, EachRankHasItsOwnLastAttempt) {
  ReportedRun run("run", 2);
  run.AddSteps({.rank = 1}, Steps(0, 1));
  run.AddSteps({.rank = 0}, Steps(0, 1));
  run.AddSteps({.rank = 0, .attempt = 1}, Steps(1, 1));
  EXPECT_THAT(Names(run.Load().of_ranks),
              ElementsAre(Name(0, 0, 0), Name(1, 0, 0), Name(0, 1, 1), Name(1, 0, 1)));
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
}  // namespace packtrain::analysis
