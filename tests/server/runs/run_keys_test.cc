#include "server/runs/run_keys.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/testing/golden.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::SizeIs;

const Reporter kReporter = {"20240105-101112-abcd", 3, 0x01020304};

// The run that an earlier version of the programs wrote the keys of tests/golden/run_keys.hex for.
const Reporter kGoldenReporter = {"20261129-013447-m3uu", 1, 0};

v1::CorruptGraphs GoldenCorruptGraphs() {
  v1::CorruptGraphs graphs;
  graphs.set_step(13);
  graphs.set_epoch(1);
  graphs.set_batch_index(6);
  graphs.set_split("train");
  return graphs;
}

v1::Evaluation GoldenEvaluation() {
  v1::Evaluation evaluation;
  evaluation.set_step(20);
  evaluation.set_split("val");
  evaluation.set_attempt(1);
  return evaluation;
}

std::string KeyOfAnOlderEvaluation() {
  const std::string key = EvaluationKey(kGoldenReporter.run, GoldenEvaluation());
  return key.substr(0, key.size() - 5);
}

TEST(RunKeys, WritesTheGoldenKeys) {
  const std::string& run = kGoldenReporter.run;
  EXPECT_THAT(
      packtrain::testing::GoldenBlocks("run_keys.hex"),
      ElementsAre(DescriptionKey(run), ProgressKey(run), IdempotencyKey("made-by-hand-0001"),
                  AttemptKey(kGoldenReporter), EvaluationKey(run, GoldenEvaluation()),
                  StepBlockKey(kGoldenReporter, 20), SampleKey(kGoldenReporter, 1'700'000'003'000'000'000),
                  EventKey(kGoldenReporter, 1'700'000'002'000'000'000, "evaluation"),
                  CorruptGraphsKey(run, GoldenCorruptGraphs()), PlaceKey(run), LostRecordsKey(kGoldenReporter),
                  KeyOfAnOlderEvaluation()));
}

TEST(RunKeys, AnEvaluationOfAnOlderServerIsReadBeforeTheOthersOfItsStepAndSplit) {
  EXPECT_TRUE(KeyOfAnOlderEvaluation().starts_with(EvaluationPrefix(kGoldenReporter.run)));
  v1::Evaluation evaluation = GoldenEvaluation();
  evaluation.clear_attempt();
  EXPECT_LT(KeyOfAnOlderEvaluation(), EvaluationKey(kGoldenReporter.run, evaluation));
}

TEST(RunKeys, ReadsTheGoldenKeys) {
  const std::vector<std::string> golden = packtrain::testing::GoldenBlocks("run_keys.hex");
  ASSERT_THAT(golden, SizeIs(12));
  for (const auto& reporter :
       {ReporterOfAttemptKey(golden[3]), ReporterOfStepBlockKey(golden[5]), ReporterOfSampleKey(golden[6]),
        ReporterOfEventKey(golden[7]), ReporterOfLostRecordsKey(golden[10])}) {
    ASSERT_THAT(reporter, IsOk());
    EXPECT_EQ(reporter->run, kGoldenReporter.run);
    EXPECT_EQ(reporter->rank, kGoldenReporter.rank);
    EXPECT_EQ(reporter->attempt, kGoldenReporter.attempt);
  }
}

TEST(RunKeys, TheReporterIsReadBackFromAKey) {
  for (const auto& reporter :
       {ReporterOfAttemptKey(AttemptKey(kReporter)), ReporterOfStepBlockKey(StepBlockKey(kReporter, 7)),
        ReporterOfSampleKey(SampleKey(kReporter, 7)), ReporterOfEventKey(EventKey(kReporter, 7, "gc")),
        ReporterOfLostRecordsKey(LostRecordsKey(kReporter))}) {
    ASSERT_THAT(reporter, IsOk());
    EXPECT_EQ(reporter->run, kReporter.run);
    EXPECT_EQ(reporter->rank, kReporter.rank);
    EXPECT_EQ(reporter->attempt, kReporter.attempt);
  }
}

TEST(RunKeys, AKeyOfAnyOtherFormIsDataLoss) {
  const std::string attempt = AttemptKey(kReporter);
  const std::string block = StepBlockKey(kReporter, 7);
  for (const std::string& key : {std::string(), std::string("a"), attempt.substr(1), attempt + "x",
                                 attempt.substr(0, attempt.size() - 1), DescriptionKey(kReporter.run)}) {
    EXPECT_THAT(ReporterOfAttemptKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
  for (const std::string& key : {std::string(), block + "x", block.substr(0, block.size() - 1), attempt}) {
    EXPECT_THAT(ReporterOfStepBlockKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
  const std::string sample = SampleKey(kReporter, 7);
  for (const std::string& key : {std::string(), std::string("s"), sample + "x", sample.substr(1),
                                 sample.substr(0, sample.size() - 1), EventKey(kReporter, 7, "")}) {
    EXPECT_THAT(ReporterOfSampleKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
  const std::string event = EventKey(kReporter, 7, "");
  for (const std::string& key : {std::string(), event.substr(1), event.substr(0, event.size() - 1), sample}) {
    EXPECT_THAT(ReporterOfEventKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
  const std::string lost = LostRecordsKey(kReporter);
  for (const std::string& key : {std::string(), lost + "x", lost.substr(1), attempt}) {
    EXPECT_THAT(ReporterOfLostRecordsKey(key), StatusIs(absl::StatusCode::kDataLoss));
  }
}

}  // namespace
}  // namespace packtrain::runs
