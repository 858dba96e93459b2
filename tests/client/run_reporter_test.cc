#include "client/run_reporter.h"

#include <gmock/gmock.h>

#include <array>

#include "tests/client/served_runs.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;
using testing::Description;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::Options;
using testing::Range;
using testing::Served;
using ::testing::SizeIs;
using testing::StatusIs;
using testing::Step;

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
  reporter->AddEvaluation({.step = 9,
                           .split = "val",
                           .graphs = 3,
                           .mae = 0.25,
                           .rmse = 0.5,
                           .accuracy = 0.75,
                           .filter_error = 1e-6});
  reporter->AddSample({.time_ns = 7, .rss_bytes = 4096});
  reporter->AddEvent({.name = "checkpoint", .start_ns = 5, .duration_ns = 3});
  EXPECT_THAT(reporter->Flush(), IsOk());
  ASSERT_THAT(served.runs.evaluations(), SizeIs(1));
  EXPECT_EQ(served.runs.evaluations()[0].split(), "val");
  EXPECT_EQ(served.runs.evaluations()[0].mae(), 0.25);
  EXPECT_EQ(served.runs.evaluations()[0].accuracy(), 0.75);
  EXPECT_FALSE(served.runs.evaluations()[0].has_constant_accuracy());
  EXPECT_EQ(served.runs.evaluations()[0].filter_error(), 1e-6);
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
