#include "client/run_reporter.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>
#include <thread>

#include "tests/client/scripted_services.h"
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
using testing::OptionsFor;
using testing::ScriptedInfo;
using testing::ScriptedRuns;
using ::testing::SizeIs;
using testing::StatusIs;

constexpr milliseconds kPatient{60'000};
constexpr milliseconds kNever{3'600'000};

RunDescription Description() {
  RunDescription description;
  description.model = "schnet";
  description.parameters = 84'768;
  description.dataset = "qm9@abc";
  description.spec.policy = wire::Policy::kDynamic;
  description.spec.graphs = 8;
  description.world_size = 2;
  description.device = "cpu";
  description.hardware_name = "test processor";
  description.labels = {{"sweep", "7"}};
  description.libraries = {{"libtorch", "2.11.0"}};
  description.planned_steps = 50;
  description.on_corrupt = OnCorrupt::kSkip;
  description.input = "synthetic";
  description.settings = {.threads = 8,
                          .read_ahead_bytes = 1'000,
                          .learning_rate_schedule = "constant",
                          .max_captures = 16,
                          .evaluate_every = 0,
                          .checkpoint_every = 500,
                          .other = {{"readout", "mean"}}};
  description.environment = {
      .server_builders = 4, .shares_host_with_server = false, .power_limit_watts = 650.5};
  return description;
}

// Sends full blocks and on Flush only, so that tests decide when.
ReporterOptions Options(std::size_t block_steps) {
  ReporterOptions options;
  options.idempotency_key = "twelve-chars";
  options.rank = 1;
  options.first_step = 3;
  options.block_steps = block_steps;
  options.flush_every = kNever;
  return options;
}

wire::StepRecord Step(std::uint64_t step) {
  wire::StepRecord record;
  record.step = step;
  record.total_ns = 1'000 + step;
  record.loss = 0.5;
  return record;
}

class Served {
 public:
  explicit Served(milliseconds give_up = kPatient) : server({&info, &runs}) {
    ConnectionOptions options = OptionsFor(server.address(), give_up);
    options.on_notice = [this](const std::string& line) { notices.push_back(line); };
    connection = Connection::Open(options).value();
  }
  ~Served() { runs.Release(); }

  std::unique_ptr<RunReporter> Start(const ReporterOptions& options) const {
    return RunReporter::Start(connection, Description(), options).value();
  }

  ScriptedInfo info;
  ScriptedRuns runs;
  InProcessServer server;
  std::vector<std::string> notices;  // to be read when no reporter is left
  std::shared_ptr<Connection> connection;
};

std::vector<std::uint64_t> Range(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> steps(to - from);
  std::iota(steps.begin(), steps.end(), from);
  return steps;
}

TEST(RunReporter, StartsARunWithItsWholeDescription) {
  Served served;
  const auto reporter = served.Start(Options(4));
  EXPECT_EQ(reporter->run(), "r1");
  EXPECT_EQ(reporter->attempt(), 4u);
  ASSERT_THAT(served.runs.starts(), SizeIs(1));
  const v1::StartRunRequest start = served.runs.starts()[0];
  EXPECT_EQ(start.idempotency_key(), "twelve-chars");
  EXPECT_EQ(start.rank(), 1u);
  EXPECT_EQ(start.first_step(), 3u);
  EXPECT_THAT(start.process_key(), SizeIs(32));
  EXPECT_EQ(start.description().model(), "schnet");
  EXPECT_EQ(start.description().parameters(), 84'768u);
  EXPECT_EQ(start.description().spec().policy(), v1::POLICY_DYNAMIC);
  EXPECT_EQ(start.description().hardware().name(), "test processor");
  EXPECT_EQ(start.description().labels().at("sweep"), "7");
  EXPECT_EQ(start.description().libraries().at("libtorch"), "2.11.0");
  EXPECT_EQ(start.description().planned_steps(), 50u);
  EXPECT_EQ(start.description().on_corrupt(), v1::ON_CORRUPT_SKIP);
  EXPECT_EQ(start.description().input(), "synthetic");
  const v1::TrainerSettings& settings = start.description().settings();
  EXPECT_EQ(settings.threads(), 8u);
  EXPECT_EQ(settings.read_ahead_bytes(), 1'000u);
  EXPECT_EQ(settings.learning_rate_schedule(), "constant");
  EXPECT_EQ(settings.max_captures(), 16u);
  EXPECT_TRUE(settings.has_evaluate_every());
  EXPECT_EQ(settings.evaluate_every(), 0u);
  EXPECT_EQ(settings.checkpoint_every(), 500u);
  EXPECT_EQ(settings.other().at("readout"), "mean");
  const v1::RunEnvironment& environment = start.description().environment();
  EXPECT_EQ(environment.server_builders(), 4u);
  EXPECT_TRUE(environment.has_shares_host_with_server());
  EXPECT_FALSE(environment.shares_host_with_server());
  EXPECT_EQ(environment.power_limit_watts(), 650.5);
}

TEST(RunReporter, ARankThatOnlyJoinsSaysSo) {
  Served served;
  ReporterOptions options = Options(4);
  EXPECT_FALSE((served.Start(options), served.runs.starts().back().join_only()));
  options.join_only = true;
  EXPECT_TRUE((served.Start(options), served.runs.starts().back().join_only()));
}

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

TEST(RunReporter, SendsStepsInBlocks) {
  Served served;
  const auto reporter = served.Start(Options(4));
  for (std::uint64_t step = 0; step < 10; ++step) reporter->AddStep(Step(step));
  EXPECT_THAT(reporter->Flush(), IsOk());
  EXPECT_EQ(served.runs.steps(), Range(0, 10));
  for (const v1::ReportStepsRequest& call : served.runs.step_calls()) {
    EXPECT_LE(call.steps().step_size(), 4);
    EXPECT_EQ(call.run(), "r1");
    EXPECT_EQ(call.rank(), 1u);
    EXPECT_EQ(call.attempt(), 4u);
  }
}

TEST(RunReporter, SendsAFullBlockByItself) {
  Served served;
  const auto reporter = served.Start(Options(4));
  for (std::uint64_t step = 0; step < 4; ++step) reporter->AddStep(Step(step));
  served.runs.WaitForStepCalls(1);
  EXPECT_EQ(served.runs.steps(), Range(0, 4));
}

TEST(RunReporter, SendsAPartOfABlockAfterAWhile) {
  Served served;
  ReporterOptions options = Options(1'000);
  options.flush_every = milliseconds(1);
  const auto reporter = served.Start(options);
  reporter->AddStep(Step(0));
  served.runs.WaitForStepCalls(1);
  EXPECT_EQ(served.runs.steps(), Range(0, 1));
}

TEST(RunReporter, SendsEvaluationsSamplesAndEvents) {
  Served served;
  const auto reporter = served.Start(Options(4));
  reporter->AddEvaluation({.step = 9, .split = "val", .graphs = 3, .mae = 0.25, .rmse = 0.5});
  reporter->AddSample({.time_ns = 7, .rss_bytes = 4096});
  reporter->AddEvent({.name = "checkpoint", .start_ns = 5, .duration_ns = 3});
  EXPECT_THAT(reporter->Flush(), IsOk());
  ASSERT_THAT(served.runs.evaluations(), SizeIs(1));
  EXPECT_EQ(served.runs.evaluations()[0].split(), "val");
  EXPECT_EQ(served.runs.evaluations()[0].mae(), 0.25);
  ASSERT_THAT(served.runs.samples(), SizeIs(1));
  EXPECT_EQ(served.runs.samples()[0].rss_bytes(), 4096u);
  EXPECT_FALSE(served.runs.samples()[0].has_device_use());
  EXPECT_FALSE(served.runs.samples()[0].has_process_cpu_ns());
  ASSERT_THAT(served.runs.events(), SizeIs(1));
  EXPECT_EQ(served.runs.events()[0].name(), "checkpoint");
  EXPECT_EQ(served.runs.events()[0].start_ns(), 5);
  EXPECT_EQ(served.runs.events()[0].duration_ns(), 3u);
}

TEST(RunReporter, SendsWhatBatchesCameWithout) {
  Served served;
  const auto reporter = served.Start(Options(4));
  for (std::uint64_t step = 0; step < 65; ++step) {
    reporter->AddCorruptGraphs(
        {.step = step, .epoch = 2, .batch_index = 2 * step + 1, .split = "train", .graphs = {step, 900}});
  }
  EXPECT_THAT(reporter->Flush(), IsOk());
  const std::vector<v1::ReportCorruptGraphsRequest> calls = served.runs.corrupt_graphs();
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[0].run(), "r1");
  EXPECT_EQ(calls[0].rank(), 1u);
  EXPECT_EQ(calls[0].attempt(), 4u);
  EXPECT_EQ(calls[0].batches_size(), 64);
  ASSERT_EQ(calls[1].batches_size(), 1);
  const v1::CorruptGraphs& batch = calls[1].batches(0);
  EXPECT_EQ(batch.step(), 64u);
  EXPECT_EQ(batch.epoch(), 2u);
  EXPECT_EQ(batch.batch_index(), 129u);
  EXPECT_EQ(batch.split(), "train");
  EXPECT_THAT(batch.graphs(), ElementsAre(64, 900));
}

TEST(RunReporter, ASampleHasTheLastStepOfItsOwnProcess) {
  Served served;
  const auto reporter = served.Start(Options(4));
  reporter->AddSteps({.rank = 0, .attempt = 0, .steps = {Step(7)}});
  reporter->AddSample({.time_ns = 1});
  reporter->AddStep(Step(8));
  reporter->AddSample({.time_ns = 2, .device_id = "GPU-1"});
  EXPECT_THAT(reporter->Flush(), IsOk());
  ASSERT_THAT(served.runs.samples(), SizeIs(2));
  EXPECT_FALSE(served.runs.samples()[0].has_step());
  EXPECT_EQ(served.runs.samples()[1].step(), 8u);
  EXPECT_EQ(served.runs.samples()[1].device_id(), "GPU-1");
}

TEST(RunReporter, AnEvaluationCarriesTheAttemptThatMadeIt) {
  Served served;
  const auto reporter = served.Start(Options(4));
  reporter->AddEvaluation({.step = 9, .split = "val"});
  reporter->AddEvaluation({.step = 8, .split = "val", .attempt = 2});
  EXPECT_THAT(reporter->Flush(), IsOk());
  ASSERT_THAT(served.runs.evaluations(), SizeIs(2));
  EXPECT_EQ(served.runs.evaluations()[0].attempt(), 4u);
  EXPECT_EQ(served.runs.evaluations()[1].attempt(), 2u);
}

TEST(RunReporter, SamplesAndEventsSayWhenByAClockThatNobodySets) {
  Served served;
  const auto reporter = served.Start(Options(4));
  reporter->AddSample({.time_ns = 7, .monotonic_ns = 12});
  reporter->AddSample({.time_ns = 8});
  reporter->AddEvent({.name = "gc", .start_ns = 5, .duration_ns = 3, .step = 6});
  reporter->AddEvent({.name = "gc", .start_ns = 6});
  EXPECT_THAT(reporter->Flush(), IsOk());
  ASSERT_THAT(served.runs.samples(), SizeIs(2));
  EXPECT_EQ(served.runs.samples()[0].monotonic_ns(), 12);
  EXPECT_FALSE(served.runs.samples()[1].has_monotonic_ns());
  ASSERT_THAT(served.runs.events(), SizeIs(2));
  EXPECT_EQ(served.runs.events()[0].step(), 6u);
  EXPECT_FALSE(served.runs.events()[1].has_step());
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

TEST(RunReporter, SendsLeftOverStepsUnderTheirOwnRankAndAttempt) {
  Served served;
  const auto reporter = served.Start(Options(4));
  reporter->AddSteps({.rank = 0, .attempt = 2, .steps = {Step(0), Step(1)}});
  reporter->AddSteps({.rank = 1, .attempt = 3, .steps = {Step(1)}});
  reporter->AddStep(Step(2));
  EXPECT_THAT(reporter->Flush(), IsOk());
  const auto calls = served.runs.step_calls();
  ASSERT_THAT(calls, SizeIs(3));
  const std::vector<std::array<std::uint32_t, 3>> expected = {{0, 2, 2}, {1, 3, 1}, {1, 4, 1}};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].rank(), expected[i][0]);
    EXPECT_EQ(calls[i].attempt(), expected[i][1]);
    EXPECT_EQ(calls[i].steps().step_size(), static_cast<int>(expected[i][2]));
  }
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
  std::set<std::uint64_t> steps;
  for (const AttemptSteps& part : reporter->unsent().steps) {
    EXPECT_EQ(part.rank, 1u);
    EXPECT_EQ(part.attempt, 4u);
    for (const wire::StepRecord& step : part.steps) steps.insert(step.step);
  }
  EXPECT_THAT(steps, SizeIs(1'000));
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

TEST(RunReporter, RefusesBadOptions) {
  Served served;
  EXPECT_THAT(RunReporter::Start(served.connection, Description(), Options(0)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("block_steps")));
  EXPECT_THAT(RunReporter::Start(served.connection, Description(), Options(65'537)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65536")));
  ReporterOptions options = Options(4);
  options.max_queued_records = 0;
  EXPECT_THAT(RunReporter::Start(served.connection, Description(), options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_queued_records")));
  RunDescription description = Description();
  description.spec.policy.reset();
  EXPECT_THAT(RunReporter::Start(served.connection, description, Options(4)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--policy")));
}

}  // namespace
}  // namespace packtrain::client
