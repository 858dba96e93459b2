// The contract of RunStore: runs that finish, fall silent and are found again.
#include <gmock/gmock.h>

#include "tests/server/runs/run_store_conformance.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(RunStoreConformance, AFinishedRunTakesNoReports) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(Add(rank, 0, 9), IsOk());
  store_.Pass(5000);
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  store_.Reopen();
  const auto finished = StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is finished"));
  EXPECT_THAT(Add(rank, 10, 19), finished);
  EXPECT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(9, "val", 1)), finished);
  EXPECT_THAT(store_->AddSamples(rank, {SampleAt(1)}), finished);
  v1::Event event;
  event.set_name("gc");
  EXPECT_THAT(store_->AddEvents(rank, {event}), finished);
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_DONE);
  EXPECT_EQ(Get(rank.run).steps(), 10u);
  EXPECT_EQ(Get(rank.run).finished_ms(), store_.now_ms);
}

TEST_F(RunStoreConformance, FinishingAgainChangesNothing) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_FAILED, "rank 1 died"), IsOk());
  const std::int64_t finished_ms = store_.now_ms;
  store_.Pass(1000);
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_FAILED, "other"), IsOk());
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is finished")));
  EXPECT_EQ(Get(rank.run).finished_ms(), finished_ms);
  EXPECT_EQ(Get(rank.run).message(), "rank 1 died");
}

TEST_F(RunStoreConformance, BadFinishesAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  EXPECT_THAT(store_->Finish("nobody", v1::RUN_STATE_DONE, ""), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_LOST, ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not as RUN_STATE_LOST")));
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_FAILED, std::string(4097, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("message has 4097 bytes")));
}

TEST_F(RunStoreConformance, ANewAttemptReopensAFinishedRun) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_process_key("process a");
  const Reporter first = StartRun(*store_, request);
  ASSERT_THAT(Add(first, 0, 9), IsOk());
  ASSERT_THAT(store_->Finish(first.run, v1::RUN_STATE_FAILED, "out of memory"), IsOk());
  StartRun(*store_, request);  // a repeated call reopens nothing
  EXPECT_EQ(Get(first.run).state(), v1::RUN_STATE_FAILED);
  request.set_process_key("process b");
  request.set_first_step(5);
  const Reporter second = StartRun(*store_, request);
  EXPECT_EQ(Get(first.run).steps(), 5u);
  store_.Reopen();
  EXPECT_EQ(Get(first.run).state(), v1::RUN_STATE_RUNNING);
  EXPECT_EQ(Get(first.run).message(), "");
  EXPECT_EQ(Get(first.run).finished_ms(), 0);
  ASSERT_THAT(Add(second, 5, 19), IsOk());
  EXPECT_EQ(Get(first.run).steps(), 20u);
}

TEST_F(RunStoreConformance, ASilentRunIsLostUntilItReportsAgain) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  store_.Pass(600'000);
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
  store_.Pass(1);
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_LOST);
  EXPECT_EQ(store_->List()->front().state(), v1::RUN_STATE_LOST);
  ASSERT_THAT(Add(rank, 0, 9), IsOk());
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
  EXPECT_EQ(Get(rank.run).last_report_ms(), store_.now_ms);
  store_.Reopen();
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
}

TEST_F(RunStoreConformance, AnyReportKeepsARunAlive) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const auto alive = [this, &rank] { return Get(rank.run).last_report_ms() == store_.now_ms; };
  store_.Pass(1);
  ASSERT_THAT(store_->AddSamples(rank, {SampleAt(1)}), IsOk());
  EXPECT_TRUE(alive());
  store_.Pass(1);
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(9, "val", 1)), IsOk());
  EXPECT_TRUE(alive());
  store_.Pass(1);
  v1::Event event;
  event.set_name("gc");
  ASSERT_THAT(store_->AddEvents(rank, {event}), IsOk());
  EXPECT_TRUE(alive());
}

TEST_F(RunStoreConformance, AFinishedRunIsNeverLost) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  store_.Pass(1'000'000);
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_DONE);
}

TEST_F(RunStoreConformance, AnUnambiguousBeginningNamesARun) {
  const Reporter a = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms += 60'000;
  const Reporter b = StartRun(*store_, StartRequest("key-00000002"));
  EXPECT_EQ(Get("20231114-2214").run(), b.run);
  EXPECT_EQ(Get(a.run).run(), a.run);
  EXPECT_THAT(store_->Get("2023"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(a.run + ", " + b.run)));
  EXPECT_THAT(store_->Get(""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(store_->Get("2024"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no run 2024")));
  EXPECT_THAT(EvaluationsIn(*store_, "2024"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->ReadSamples("2024", [](const auto&, const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->ReadEvents("2024", [](const auto&, const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->ReadSteps("2024", [](const auto&, const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RunStoreConformance, RunsAreListedNewestFirst) {
  const Reporter a = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms += 1;
  const Reporter b = StartRun(*store_, StartRequest("key-00000002"));
  const std::vector<v1::Run> runs = *store_->List();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].run(), b.run);
  EXPECT_EQ(runs[1].run(), a.run);
}

constexpr std::int64_t kHourMs = 3'600'000;

// Both for one that the store lives through and for one that it finds when it opens.
TEST_F(RunStoreConformance, AClockSetBackKeepsTheOrderOfRuns) {
  const Reporter first = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms -= kHourMs;
  store_.steady_ms += 1;
  const Reporter second = StartRun(*store_, StartRequest("key-00000002"));
  store_.now_ms -= kHourMs;
  store_.Reopen();
  store_.steady_ms += 1;
  const Reporter third = StartRun(*store_, StartRequest("key-00000003"));
  const std::vector<v1::Run> runs = *store_->List();
  ASSERT_THAT(runs, SizeIs(3));
  EXPECT_EQ(runs[0].run(), third.run);
  EXPECT_EQ(runs[1].run(), second.run);
  EXPECT_EQ(runs[2].run(), first.run);
}

TEST_F(RunStoreConformance, ARunDuringWhichTheClockIsSetBackLastsAsLongAsItLasted) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms -= kHourMs;
  store_.steady_ms += 1'000;
  ASSERT_THAT(Add(rank, 0, 9), IsOk());
  EXPECT_EQ(Get(rank.run).last_report_ms(), Get(rank.run).started_ms() + 1'000);
  store_.now_ms -= kHourMs;
  store_.steady_ms += 1'000;
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  EXPECT_EQ(Get(rank.run).finished_ms(), Get(rank.run).started_ms() + 2'000);
}

TEST_F(RunStoreConformance, AClockSetBackNeitherLosesARunNorKeepsASilentOneAlive) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms -= kHourMs;
  store_.steady_ms += 600'000;
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
  store_.steady_ms += 1;
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_LOST);
  ASSERT_THAT(Add(rank, 0, 9), IsOk());
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
}

constexpr std::int64_t kYearMs = std::int64_t{365} * 24 * kHourMs;

// A run that began while the clock was wrong keeps its wrong date, and no other has one.
TEST_F(RunStoreConformance, RunsAfterAClockThatWasYearsAheadHaveRightDatesAndStandInOrder) {
  const std::int64_t start_ms = store_.now_ms;
  const Reporter before = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms += 10 * kYearMs;
  const Reporter ahead = StartRun(*store_, StartRequest("key-00000002"));
  store_.now_ms = start_ms + 1'000;
  const Reporter after = StartRun(*store_, StartRequest("key-00000003"));
  EXPECT_TRUE(after.run.starts_with("20231114-2213")) << after.run;
  EXPECT_EQ(Get(after.run).started_ms(), start_ms + 1'000);
  store_.Reopen();
  const Reporter last = StartRun(*store_, StartRequest("key-00000004"));
  EXPECT_EQ(Get(last.run).started_ms(), start_ms + 1'000);
  std::vector<std::string> names;
  const std::vector<v1::Run> runs = *store_->List();
  for (const v1::Run& run : runs) names.push_back(run.run());
  EXPECT_THAT(names, ElementsAre(last.run, after.run, ahead.run, before.run));
}

TEST_F(RunStoreConformance, ADateInTheFutureKeepsNoRunAliveOverARestart) {
  store_.now_ms += 10 * kYearMs;
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms -= 10 * kYearMs;
  store_.Reopen();
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
  store_.Pass(600'001);
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_LOST);
}

TEST_F(RunStoreConformance, ARunThatWasSilentOverARestartIsLost) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  store_.Pass(600'001);
  store_.Reopen();
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_LOST);
}

TEST_F(RunStoreConformance, AClockThatJumpsAheadMakesNoRunLostAndNoRunLonger) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms += 10 * kYearMs;
  store_.steady_ms += 1'000;
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  EXPECT_EQ(Get(rank.run).finished_ms(), Get(rank.run).started_ms() + 1'000);
}

}  // namespace
}  // namespace packtrain::runs
