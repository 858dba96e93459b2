#include "client/run_reporter.h"

#include <gmock/gmock.h>

#include <deque>
#include <thread>

#include "tests/client/served_runs.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::InProcessServer;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::kNever;
using testing::Options;
using testing::Range;
using testing::ScriptedInfo;
using testing::ScriptedRuns;
using testing::Served;
using ::testing::SizeIs;
using testing::StatusIs;
using testing::Step;

TEST(RunReporter, TellsOfALossAndOfTheReturnOnceEach) {
  Served served;
  const grpc::Status away(grpc::StatusCode::UNAVAILABLE, "no route");
  served.runs.AnswerSteps({away, away, away});
  {
    const auto reporter = served.Start(Options(1));
    reporter->AddStep(Step(3));
    EXPECT_THAT(reporter->Flush(), IsOk());
  }
  EXPECT_THAT(served.notices, ElementsAre(HasSubstr("cannot be reached (no route)"), HasSubstr("is back")));
}

TEST(RunReporter, SaysNothingOfARefusal) {
  Served served;
  served.runs.AnswerSteps({{grpc::StatusCode::UNAVAILABLE, "x"}, {grpc::StatusCode::INVALID_ARGUMENT, "x"}});
  {
    const auto reporter = served.Start(Options(1));
    reporter->AddStep(Step(3));
    EXPECT_THAT(reporter->Flush(), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(served.notices, IsEmpty());
}

TEST(RunReporter, SendsABlockAgainAfterALostAcknowledgement) {
  Served served;
  served.runs.AnswerSteps({grpc::Status(grpc::StatusCode::UNAVAILABLE, "connection reset"),
                           grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "disk full")});
  const auto reporter = served.Start(Options(4));
  for (std::uint64_t step = 0; step < 4; ++step) reporter->AddStep(Step(step));
  EXPECT_THAT(reporter->Flush(), IsOk());
  const auto calls = served.runs.step_calls();
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_EQ(calls[0].SerializeAsString(), calls[1].SerializeAsString());
  EXPECT_EQ(calls[0].SerializeAsString(), calls[2].SerializeAsString());
}

TEST(RunReporter, FlushSaysHowManyRecordsALostServerDidNotTake) {
  Served served(milliseconds(100));
  const auto reporter = served.Start(Options(4));
  served.server.Shutdown();
  for (std::uint64_t step = 0; step < 6; ++step) reporter->AddStep(Step(step));
  EXPECT_THAT(reporter->Flush(), StatusIs(absl::StatusCode::kUnavailable,
                                          AllOf(HasSubstr("6 records"), HasSubstr(served.server.address()),
                                                HasSubstr("0.1 s"), HasSubstr("--give-up"))));
  EXPECT_THAT(reporter->Finish(false, ""), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(RunReporter, DeliversWhatWasQueuedWhenTheServerIsBack) {
  Served served;
  const auto reporter = served.Start(Options(4));
  served.server.Shutdown();
  for (std::uint64_t step = 0; step < 6; ++step) reporter->AddStep(Step(step));
  ScriptedInfo info;
  ScriptedRuns runs;
  InProcessServer again({&info, &runs}, served.server.port());
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_EQ(runs.steps(), Range(0, 6));
}

TEST(RunReporter, AServerThatTakesNoRecordsIsNotSaidToBeAway) {
  Served served(milliseconds(100));
  served.runs.AnswerSteps(
      std::deque<grpc::Status>(1'000, grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "the disk is full")));
  const auto reporter = served.Start(Options(4));
  reporter->AddStep(Step(0));
  EXPECT_THAT(reporter->Finish(false, ""),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("1 records"), HasSubstr("--give-up"), HasSubstr("the disk is full"))));
  EXPECT_THAT(served.runs.finishes(), IsEmpty());
}

TEST(RunReporter, AHurriedReporterDoesNotWaitForAServerThatIsAway) {
  Served served(kNever);
  const auto reporter = served.Start(Options(4));
  served.server.Shutdown();
  reporter->AddStep(Step(0));
  std::thread hurrying([&reporter] { reporter->Hurry(); });
  EXPECT_THAT(reporter->Finish(true, "stopped"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("1 records")));
  hurrying.join();
  EXPECT_THAT(reporter->unsent().steps, SizeIs(1));
}

TEST(RunReporter, AHurriedReporterDeliversToAServerThatIsThere) {
  Served served;
  const auto reporter = served.Start(Options(4));
  reporter->Hurry();
  for (std::uint64_t step = 0; step < 10; ++step) reporter->AddStep(Step(step));
  EXPECT_THAT(reporter->Finish(true, "stopped"), IsOk());
  EXPECT_EQ(served.runs.steps(), Range(0, 10));
  EXPECT_THAT(served.runs.finishes(), SizeIs(1));
}

TEST(RunReporter, FlushReportsWhatTheServerRefused) {
  Served served;
  served.runs.AnswerSteps({grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "the run is finished")});
  const auto reporter = served.Start(Options(4));
  for (std::uint64_t step = 0; step < 8; ++step) reporter->AddStep(Step(step));
  EXPECT_THAT(reporter->Flush(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("refused 4 records"), HasSubstr("the run is finished"))));
  EXPECT_THAT(served.runs.step_calls(), SizeIs(2));
}

TEST(RunReporter, FinishFlushesAndCloses) {
  Served served;
  const auto reporter = served.Start(Options(100));
  reporter->AddStep(Step(0));
  EXPECT_THAT(reporter->Finish(true, "loss is not finite", /*end_step=*/1), IsOk());
  EXPECT_EQ(served.runs.steps(), Range(0, 1));
  ASSERT_THAT(served.runs.finishes(), SizeIs(1));
  EXPECT_EQ(served.runs.finishes()[0].run(), "r1");
  EXPECT_EQ(served.runs.finishes()[0].state(), v1::RUN_STATE_FAILED);
  EXPECT_EQ(served.runs.finishes()[0].message(), "loss is not finite");
  EXPECT_EQ(served.runs.finishes()[0].end_step(), 1u);
}

TEST(RunReporter, FlushOfNothingReturnsAtOnce) {
  Served served;
  const auto reporter = served.Start(Options(4));
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_THAT(served.runs.step_calls(), IsEmpty());
}

TEST(RunReporter, AServerThatTakesRecordsSlowlyIsNotGivenUp) {
  Served served(milliseconds(1'000));
  // Each step is refused room once, and sent again 25 ms later or more: they take 1.5 s at least.
  std::deque<grpc::Status> answers;
  for (int step = 0; step < 60; ++step) {
    answers.emplace_back(grpc::StatusCode::RESOURCE_EXHAUSTED, "the disk is full");
    answers.emplace_back();
  }
  served.runs.AnswerSteps(answers);
  const auto reporter = served.Start(Options(1));
  for (std::uint64_t step = 0; step < 60; ++step) reporter->AddStep(Step(step));
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_THAT(served.runs.step_calls(), SizeIs(120));
}

TEST(RunReporter, AFailureBeforeTheLastSuccessIsNotTheReason) {
  Served served(milliseconds(500));
  served.runs.AnswerSteps({grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "the disk is full")});
  const auto reporter = served.Start(Options(1));
  reporter->AddStep(Step(0));
  ASSERT_THAT(reporter->Flush(), IsOk());
  served.runs.Hold();
  reporter->AddStep(Step(1));
  EXPECT_THAT(reporter->Flush(), StatusIs(absl::StatusCode::kUnavailable,
                                          AllOf(HasSubstr("1 records"), HasSubstr("no answer yet"))));
}

}  // namespace
}  // namespace packtrain::client
