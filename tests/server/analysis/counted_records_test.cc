#include "server/analysis/counted_records.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/server/analysis/reported_run.h"

namespace packtrain::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

v1::Run RunOf(std::optional<std::uint64_t> end_step = std::nullopt,
              std::optional<std::uint64_t> followed_at = std::nullopt) {
  v1::Run run;
  *run.mutable_description() = SampleDescription();
  if (end_step.has_value()) run.set_end_step(*end_step);
  if (followed_at.has_value()) run.set_followed_at_step(*followed_at);
  return run;
}

template <typename Record>
Record At(std::optional<std::uint64_t> step) {
  Record record;
  if (step.has_value()) record.set_step(*step);
  return record;
}

v1::Evaluation Evaluated(std::uint64_t step, std::optional<std::uint32_t> attempt, double mae = 0,
                         const std::string& split = "val") {
  auto evaluation = At<v1::Evaluation>(step);
  evaluation.set_split(split);
  evaluation.set_mae(mae);
  if (attempt.has_value()) evaluation.set_attempt(*attempt);
  return evaluation;
}

v1::CorruptGraphs Skipped(std::uint64_t step, const std::string& split, std::uint32_t attempt) {
  auto batch = At<v1::CorruptGraphs>(step);
  batch.set_split(split);
  batch.set_rank(0);
  batch.set_attempt(attempt);
  return batch;
}

// Rank 0 resumed twice: from step 50, and from step 30 of an older checkpoint.
const std::vector<OpenedAttempt> kResumedTwice = {{{0, 2}, 30}, {{0, 0}, 0}, {{0, 1}, 50}, {{1, 0}, 0}};

TEST(CountedRecords, AttemptsEndBeforeTheFirstStepOfEveryLaterOne) {
  const CountedRecords counted(RunOf(), kResumedTwice);
  EXPECT_EQ(counted.EndOf({0, 0}), 30u);
  EXPECT_EQ(counted.EndOf({0, 1}), 30u);
  EXPECT_TRUE(counted.Counts({0, 0}, Step(29, 1)));
  EXPECT_FALSE(counted.Counts({0, 0}, Step(30, 1)));
  EXPECT_FALSE(counted.Counts({0, 1}, Step(50, 1)));
  EXPECT_TRUE(counted.Counts({0, 2}, Step(1'000, 1)));
  EXPECT_TRUE(counted.Counts({1, 0}, Step(1'000, 1)));
}

TEST(CountedRecords, ARunEndsWhereItEndedAndWhereAnotherOneFollows) {
  const CountedRecords ended(RunOf(54), kResumedTwice);
  EXPECT_TRUE(ended.Counts({1, 0}, Step(53, 1)));
  EXPECT_FALSE(ended.Counts({1, 0}, Step(54, 1)));
  const CountedRecords followed(RunOf(54, 20), kResumedTwice);
  EXPECT_EQ(followed.EndOf({0, 0}), 20u);
  EXPECT_EQ(followed.EndOf({0, 2}), 20u);
  EXPECT_EQ(followed.EndOf({1, 0}), 20u);
}

TEST(CountedRecords, SamplesAndEventsLieBehindTheStepThatTheyName) {
  const CountedRecords counted(RunOf(60), kResumedTwice);
  const auto counts = [&counted](const RankAttempt& process, std::optional<std::uint64_t> step) {
    EXPECT_EQ(counted.Counts(process, At<v1::Sample>(step)), counted.Counts(process, At<v1::Event>(step)));
    return counted.Counts(process, At<v1::Sample>(step));
  };
  EXPECT_TRUE(counts({0, 0}, 29));
  EXPECT_FALSE(counts({0, 0}, 30));
  EXPECT_TRUE(counts({0, 0}, std::nullopt));
  EXPECT_FALSE(counts({0, 1}, std::nullopt));  // no step of it counts
  EXPECT_TRUE(counts({0, 2}, std::nullopt));
  EXPECT_FALSE(counts({0, 2}, 60));
}

TEST(CountedRecords, AnEvaluationIsOfTheModelBehindItsSteps) {
  const CountedRecords counted(RunOf(54), kResumedTwice);
  EXPECT_TRUE(counted.Counts(Evaluated(30, 0)));
  EXPECT_FALSE(counted.Counts(Evaluated(31, 0)));
  EXPECT_TRUE(counted.Counts(Evaluated(54, 2)));
  EXPECT_FALSE(counted.Counts(Evaluated(55, 2)));
  EXPECT_TRUE(counted.Counts(Evaluated(54, std::nullopt)));
  EXPECT_FALSE(counted.Counts(Evaluated(55, std::nullopt)));
}

TEST(CountedRecords, ACorruptGraphBelongsToItsBatch) {
  const CountedRecords counted(RunOf(), kResumedTwice);
  EXPECT_TRUE(counted.Counts(Skipped(29, "train", 0)));
  EXPECT_FALSE(counted.Counts(Skipped(30, "train", 0)));
  EXPECT_TRUE(counted.Counts(Skipped(30, "val", 0)));
  EXPECT_FALSE(counted.Counts(Skipped(31, "val", 0)));
  auto older = At<v1::CorruptGraphs>(1'000);
  EXPECT_TRUE(counted.Counts(older));
  EXPECT_FALSE(CountedRecords(RunOf(1'000), {}).Counts([&older] {
    older.set_split("train");
    return older;
  }()));
}

TEST(CountedRecords, OfTheEvaluationsOfAStepAndSplitTheLastOneIsKept) {
  const std::vector<OpenedAttempt> attempts = {{{0, 0}, 0}, {{0, 1}, 25}};
  std::vector<std::pair<std::uint64_t, double>> kept;
  for (const v1::Evaluation& evaluation :
       CountedRecords(RunOf(54), attempts)
           .Keep(std::vector{Evaluated(25, 0, 1, "test"), Evaluated(25, 1, 2, "test"), Evaluated(25, 0, 3),
                             Evaluated(25, 1, 4), Evaluated(40, 0, 5), Evaluated(50, 0, 6), Evaluated(50, 1, 7),
                             Evaluated(75, 0, 8)})) {
    kept.emplace_back(evaluation.step(), evaluation.mae());
  }
  EXPECT_THAT(kept, ElementsAre(Pair(25, 2), Pair(25, 4), Pair(50, 7)));
}

TEST(CountedRecords, OneRecordOfEachStepIsKept) {
  ReportedRun run;
  run.OpenAttempt({0, 1}, 3);
  run.AddSteps({0, 0}, Steps(0, 6));
  run.AddSteps({0, 1}, Steps(3, 4));
  std::vector<std::pair<std::uint32_t, std::uint64_t>> kept;
  for (const RankStep& step : run.Load().of_ranks) kept.emplace_back(step.attempt, step.record.step);
  EXPECT_THAT(kept, ElementsAre(Pair(0, 0), Pair(0, 1), Pair(0, 2), Pair(1, 3), Pair(1, 4)));
}

TEST(MarkWarmUp, IsByTheStepsPlaceWhateverTheClientSaid) {
  std::vector<wire::StepRecord> steps = {Step(19, 1), Step(20, 1), Step(29, 1, wire::kCapture),
                                         Step(30, 1, wire::kWarmUp | wire::kEvaluation)};
  MarkWarmUp(steps, 20);
  std::vector<std::uint32_t> flags;
  for (const wire::StepRecord& step : steps) flags.push_back(step.flags);
  EXPECT_THAT(flags, ElementsAre(0u, wire::kWarmUp, wire::kWarmUp | wire::kCapture, wire::kEvaluation));
}

}  // namespace
}  // namespace packtrain::analysis
