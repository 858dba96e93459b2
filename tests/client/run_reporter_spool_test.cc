#include "client/run_reporter.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/client/served_runs.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::Options;
using testing::Range;
using testing::Served;
using ::testing::SizeIs;
using testing::Step;

std::vector<std::uint64_t> StepsOf(const UnsentRecords& unsent) {
  std::vector<std::uint64_t> steps;
  for (const AttemptSteps& part : unsent.steps) {
    for (const wire::StepRecord& step : part.steps) steps.push_back(step.step);
  }
  return steps;
}

// One count of lost records.
auto IsLost(std::uint32_t rank, std::uint32_t attempt, std::uint64_t records) {
  return AllOf(Field(&LostRecords::rank, rank), Field(&LostRecords::attempt, attempt),
               Field(&LostRecords::records, records));
}

TEST(RunReporter, KeepsWhatIsNotAcknowledged) {
  Served served;
  const auto reporter = served.Start(Options(4));
  served.runs.Hold();
  for (std::uint64_t step = 0; step < 6; ++step) reporter->AddStep(Step(step));
  reporter->AddEvaluation({.step = 5, .split = "val"});
  served.runs.WaitForStepCalls(1);  // four are in flight
  const UnsentRecords unsent = reporter->unsent();
  ASSERT_THAT(unsent.steps, SizeIs(1));
  EXPECT_EQ(unsent.steps[0].rank, 1u);
  EXPECT_EQ(unsent.steps[0].attempt, 4u);
  EXPECT_THAT(unsent.steps[0].steps, SizeIs(6));
  ASSERT_THAT(unsent.evaluations, SizeIs(1));
  EXPECT_EQ(unsent.evaluations[0].split, "val");
  served.runs.Release();
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_THAT(reporter->unsent().steps, IsEmpty());
  EXPECT_THAT(reporter->unsent().evaluations, IsEmpty());
}

// Holds a few records in memory, and no file.
ReporterOptions Small(std::size_t records) {
  ReporterOptions options = Options(4);
  options.spool_after_records = records;
  options.max_queued_records = records;
  options.spool_bytes = 0;
  return options;
}

TEST(RunReporter, LosesTheOldestBeyondItsBoundsAndTellsTheServerHowMany) {
  Served served;
  const auto reporter = served.Start(Small(10));
  served.runs.Hold();
  for (std::uint64_t step = 0; step < 4; ++step) reporter->AddStep(Step(step));
  served.runs.WaitForStepCalls(1);
  for (std::uint64_t step = 4; step < 20; ++step) reporter->AddStep(Step(step));
  EXPECT_EQ(reporter->lost(), 10u);
  served.runs.Release();
  EXPECT_THAT(reporter->Flush(), IsOk());
  std::vector<std::uint64_t> expected = Range(0, 4);
  for (std::uint64_t step : Range(14, 20)) expected.push_back(step);
  EXPECT_EQ(served.runs.steps(), expected);
  ASSERT_THAT(served.runs.losses(), SizeIs(1));
  EXPECT_EQ(served.runs.losses()[0].run(), "r1");
  EXPECT_EQ(served.runs.losses()[0].rank(), 1u);
  EXPECT_EQ(served.runs.losses()[0].attempt(), 4u);
  EXPECT_EQ(served.runs.losses()[0].records(), 10u);
  EXPECT_THAT(reporter->unsent().lost, ElementsAre(IsLost(1, 4, 10)));
}

// Holds little in memory, and the rest in a file.
ReporterOptions Spooling() {
  ReporterOptions options = Options(4);
  options.spool_after_records = 8;
  options.spool_folder = ::testing::TempDir();
  return options;
}

TEST(RunReporter, SendsWhatPiledUpInAFileInOrderAndLosesNothing) {
  Served served;
  const auto reporter = served.Start(Spooling());
  served.runs.Hold();
  for (std::uint64_t step = 0; step < 5'000; ++step) reporter->AddStep(Step(step));
  reporter->AddEvaluation({.step = 5'000, .split = "val"});
  served.runs.WaitForStepCalls(1);
  served.runs.Release();
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_EQ(served.runs.steps(), Range(0, 5'000));
  EXPECT_EQ(reporter->lost(), 0u);
  EXPECT_EQ(reporter->outstanding(), 0u);
  EXPECT_THAT(served.runs.losses(), IsEmpty());
}

TEST(RunReporter, WhatPiledUpInAFileIsUnsent) {
  Served served;
  const auto reporter = served.Start(Spooling());
  served.runs.Hold();
  for (std::uint64_t step = 0; step < 1'000; ++step) reporter->AddStep(Step(step));
  const UnsentRecords unsent = reporter->unsent();
  for (const AttemptSteps& part : unsent.steps) {
    EXPECT_EQ(part.rank, 1u);
    EXPECT_EQ(part.attempt, 4u);
  }
  EXPECT_EQ(StepsOf(unsent), Range(0, 1'000));
  EXPECT_THAT(unsent.lost, IsEmpty());
}

TEST(RunReporter, AddDoesNotWaitForAServerThatDoesNotAnswer) {
  Served served;
  const auto reporter = served.Start(Options(4));
  served.runs.Hold();
  for (std::uint64_t step = 0; step < 5'000; ++step) reporter->AddStep(Step(step));
  reporter->AddEvaluation({.step = 1, .split = "val"});
  reporter->AddSample({.time_ns = 1});
  EXPECT_EQ(reporter->lost(), 0u);
  EXPECT_LE(served.runs.step_calls().size(), 1u);
}

// With little room in memory: steps that are left over of an earlier attempt.
ReporterOptions Narrow() {
  ReporterOptions options = Spooling();
  options.max_queued_records = 16;
  return options;
}

AttemptSteps LeftOver(std::uint64_t steps) {
  AttemptSteps left{.rank = 0, .attempt = 2, .steps = {}};
  for (std::uint64_t step = 0; step < steps; ++step) left.steps.push_back(Step(step));
  return left;
}

TEST(RunReporter, LeftOverStepsGoToTheFileWhereMemoryHasNoRoomForThem) {
  Served served;
  const auto reporter = served.Start(Narrow());
  served.runs.Hold();
  reporter->AddSteps(LeftOver(1'000));
  EXPECT_EQ(reporter->lost(), 0u);
  EXPECT_EQ(reporter->outstanding(), 1'000u);
  served.runs.Release();
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_EQ(served.runs.steps(), Range(0, 1'000));
  EXPECT_THAT(served.runs.losses(), IsEmpty());
}

TEST(RunReporter, LeftOverStepsWaitForAServerThatTakesThemWhereTheFileTakesNone) {
  Served served;
  const auto reporter = served.Start(Small(16));
  reporter->AddSteps(LeftOver(1'000));
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_EQ(served.runs.steps(), Range(0, 1'000));
  EXPECT_EQ(reporter->lost(), 0u);
}

TEST(RunReporter, OfLeftOverStepsThatNeitherFileNorServerTakesTheOldestAreLost) {
  Served served;
  const auto reporter = served.Start(Small(10));
  served.server.Shutdown();
  reporter->AddSteps(LeftOver(100));
  EXPECT_EQ(reporter->lost(), 90u);
  EXPECT_EQ(reporter->outstanding(), 10u);
}

TEST(RunReporter, WhatWasLostBeforeIsToldAndStaysAmongTheUnsent) {
  Served served;
  const auto reporter = served.Start(Options(4));
  reporter->AddLost({.rank = 0, .attempt = 2, .records = 7});
  EXPECT_EQ(reporter->lost(), 7u);
  EXPECT_THAT(reporter->Flush(), IsOk());
  ASSERT_THAT(served.runs.losses(), SizeIs(1));
  EXPECT_EQ(served.runs.losses()[0].rank(), 0u);
  EXPECT_EQ(served.runs.losses()[0].attempt(), 2u);
  EXPECT_EQ(served.runs.losses()[0].records(), 7u);
  EXPECT_THAT(reporter->unsent().lost, ElementsAre(IsLost(0, 2, 7)));
}

TEST(RunReporter, OfMoreUnsentRecordsThanItsBoundTheOldestCountAsLostAmongThem) {
  Served served;
  ReporterOptions options = Spooling();
  options.max_unsent_records = 100;
  const auto reporter = served.Start(options);
  served.runs.Hold();
  for (std::uint64_t step = 0; step < 1'000; ++step) reporter->AddStep(Step(step));
  const UnsentRecords unsent = reporter->unsent();
  EXPECT_EQ(StepsOf(unsent), Range(900, 1'000));
  EXPECT_THAT(unsent.lost, ElementsAre(IsLost(1, 4, 900)));
  EXPECT_EQ(reporter->lost(), 0u);
  served.runs.Release();
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_EQ(served.runs.steps(), Range(0, 1'000));
}

}  // namespace
}  // namespace packtrain::client
