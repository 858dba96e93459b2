#include "server/analysis/summary.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/analysis/step_figures.h"
#include "tests/server/analysis/reported_run.h"

namespace packtrain::analysis {
namespace {

constexpr double kTolerance = 1e-9;

v1::SummarizeRunResponse SummaryOf(const ReportedRun& run) { return Summarize(run.Load()); }

v1::SummarizeRunResponse SummaryOfSteps(const std::vector<wire::StepRecord>& steps) {
  ReportedRun run;
  run.AddSteps({}, steps);
  return SummaryOf(run);
}

wire::StepRecord EpochStep(std::uint64_t step, std::uint64_t epoch, std::uint64_t total_ms) {
  wire::StepRecord record = Step(step, total_ms * 1'000'000);
  record.epoch = epoch;
  return record;
}

TEST(Summary, QuantilesAreNumpys) {
  // np.quantile([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [.5, .05, .9, .95, .99]), np.mean, np.std(ddof=1)
  const v1::Quantiles quantiles = Describe({3, 1, 4, 1, 5, 9, 2, 6, 5, 3});
  EXPECT_NEAR(quantiles.median(), 3.5, kTolerance);
  EXPECT_NEAR(quantiles.p5(), 1.0, kTolerance);
  EXPECT_NEAR(quantiles.p90(), 6.299999999999999, kTolerance);
  EXPECT_NEAR(quantiles.p95(), 7.649999999999997, kTolerance);
  EXPECT_NEAR(quantiles.p99(), 8.73, kTolerance);
  EXPECT_NEAR(quantiles.mean(), 3.9, kTolerance);
  EXPECT_NEAR(quantiles.stddev(), 2.4698178070456938, kTolerance);
}

TEST(Summary, OneValueIsItsOwnQuantilesAndNoneIsZero) {
  const v1::Quantiles one = Describe({7});
  EXPECT_EQ(one.mean(), 7);
  EXPECT_EQ(one.p5(), 7);
  EXPECT_EQ(one.p99(), 7);
  EXPECT_EQ(one.stddev(), 0);
  EXPECT_EQ(Describe({}).mean(), 0);
}

TEST(Summary, RatesCountRealContentPerSecond) {
  wire::StepRecord half = Step(1, 3'000'000);
  half.real = {16, 300, 5'000};
  half.wait_ns = 1'000'000;
  const v1::StepFigures whole = SummaryOfSteps({Step(0, 1'000'000), half}).whole();
  EXPECT_EQ(whole.steps(), 2u);
  EXPECT_NEAR(whole.graphs_per_second(), 48 / 0.004, 1e-6);
  EXPECT_NEAR(whole.nodes_per_second(), 876 / 0.004, 1e-6);
  EXPECT_NEAR(whole.edges_per_second(), 15'000 / 0.004, 1e-6);
  EXPECT_NEAR(whole.seconds_per_graph(), 0.004 / 48, kTolerance);
  EXPECT_NEAR(whole.wait_share(), 0.25, kTolerance);
  EXPECT_NEAR(whole.phases_us().total().mean(), 2000, kTolerance);
  EXPECT_NEAR(whole.phases_us().wait().median(), 500, kTolerance);
}

TEST(Summary, EveryPhaseIsItsOwn) {
  wire::StepRecord record = Step(0, 9'000);
  record.wait_ns = 1'000;
  record.copy_ns = 2'000;
  record.forward_ns = 3'000;
  record.backward_ns = 4'000;
  record.optimizer_ns = 5'000;
  record.comm_ns = 6'000;
  record.server_build_ns = 7'000;
  record.server_queue_ns = 8'000;
  const v1::PhaseTimes phases = SummaryOfSteps({record}).steady().phases_us();
  EXPECT_NEAR(phases.wait().mean(), 1, kTolerance);
  EXPECT_NEAR(phases.copy().mean(), 2, kTolerance);
  EXPECT_NEAR(phases.forward().mean(), 3, kTolerance);
  EXPECT_NEAR(phases.backward().mean(), 4, kTolerance);
  EXPECT_NEAR(phases.optimizer().mean(), 5, kTolerance);
  EXPECT_NEAR(phases.comm().mean(), 6, kTolerance);
  EXPECT_NEAR(phases.server_build().mean(), 7, kTolerance);
  EXPECT_NEAR(phases.server_queue().mean(), 8, kTolerance);
  EXPECT_NEAR(phases.total().mean(), 9, kTolerance);
}

TEST(Summary, SteadyStateLeavesOutWhatIsNotSteady) {
  const v1::SummarizeRunResponse summary = SummaryOfSteps(
      {Step(0, 90'000'000, wire::kWarmUp), Step(1, 80'000'000, wire::kCapture), Step(2, 1'000'000),
       Step(3, 70'000'000, wire::kEvaluation), Step(4, 3'000'000), Step(5, 60'000'000, wire::kCheckpoint)});
  EXPECT_EQ(summary.whole().steps(), 6u);
  EXPECT_EQ(summary.steady().steps(), 2u);
  EXPECT_NEAR(summary.steady().phases_us().total().mean(), 2000, kTolerance);
  EXPECT_NEAR(summary.steady().phases_us().total().p90(), 2800, kTolerance);
}

TEST(Summary, TotalsThatAreNoMeasurementAreLeftOutAndCounted) {
  const v1::SummarizeRunResponse summary =
      SummaryOfSteps({Step(0, 1'000'000), Step(1, 0), Step(2, std::uint64_t{1} << 63), Step(3, 3'000'000)});
  EXPECT_EQ(summary.whole().steps(), 2u);
  EXPECT_EQ(summary.whole().left_out(), 2u);
  EXPECT_NEAR(summary.whole().phases_us().total().mean(), 2000, kTolerance);
}

TEST(Summary, AStepTakesAsLongAsItsSlowestRankAndHoldsTheGraphsOfAll) {
  ReportedRun run("run", 2);
  run.AddSteps({.rank = 0}, {Step(0, 1'000'000), Step(1, 4'000'000), Step(2, 1'000'000)});
  run.AddSteps({.rank = 1}, {Step(0, 2'000'000), Step(1, 3'000'000)});
  const v1::StepFigures whole = SummaryOf(run).whole();
  EXPECT_EQ(whole.steps(), 2u);
  EXPECT_EQ(whole.left_out(), 1u);
  EXPECT_NEAR(whole.seconds_per_graph(), 0.006 / 128, kTolerance);
}

TEST(Summary, FillShapesAndCapturesCoverAllRanksAndSkipEmptyBatches) {
  wire::StepRecord capture = Step(0, 5'000'000, wire::kCapture);
  capture.capture_ns = 2'500'000'000;
  wire::StepRecord other_shape = Step(1, 1'000'000);
  other_shape.padded = {33, 704, 10'048};
  wire::StepRecord empty = Step(2, 1'000'000);
  empty.real = {0, 0, 0};
  empty.padded = {33, 64, 64};
  const v1::SummarizeRunResponse summary = SummaryOfSteps({capture, other_shape, empty});
  EXPECT_EQ(summary.shapes(), 2u);
  EXPECT_EQ(summary.captures(), 1u);
  EXPECT_NEAR(summary.capture_seconds(), 2.5, kTolerance);
  EXPECT_NEAR(summary.fill().graphs(), 64.0 / 66, kTolerance);
  EXPECT_NEAR(summary.fill().nodes(), 1152.0 / 1344, kTolerance);
  EXPECT_NEAR(summary.fill().edges(), 20'000.0 / 20'096, kTolerance);
}

TEST(Summary, AFillIsOfTheBatchesWhoseSlotsAreKnown) {
  wire::StepRecord unknown = Step(0, 1'000'000), known_nodes = Step(1, 1'000'000);
  unknown.padded = {};
  known_nodes.padded = {0, 640, 0};
  const v1::SummarizeRunResponse summary = SummaryOfSteps({unknown, known_nodes});
  EXPECT_EQ(summary.fill().graphs(), 0);
  EXPECT_NEAR(summary.fill().nodes(), 576.0 / 640, kTolerance);
  EXPECT_EQ(summary.fill().edges(), 0);
  EXPECT_EQ(summary.shapes(), 1u);
}

TEST(Summary, LossesAndEvaluationsThatAreNoFiniteNumbersAreCounted) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ReportedRun run;
  std::vector<wire::StepRecord> steps = Steps(0, 4);
  steps[1].loss = std::nan("");
  steps[3].loss = -kInfinity;
  run.AddSteps({}, steps);
  for (const auto& [mae, rmse] : {std::pair(0.5, 0.7), {kInfinity, 0.7}, {0.5, std::nan("")}}) {
    v1::Evaluation evaluation;
    evaluation.set_step(static_cast<std::uint64_t>(run.Load().evaluations.size()));
    evaluation.set_split("val");
    evaluation.set_mae(mae);
    evaluation.set_rmse(rmse);
    run.AddEvaluation(evaluation);
  }
  v1::Evaluation choice;
  choice.set_step(9);
  choice.set_split("val");
  choice.set_mae(std::nan(""));
  choice.set_accuracy(0.5);
  run.AddEvaluation(choice);
  run.record().set_lost_records(12);
  const v1::SummarizeRunResponse summary = SummaryOf(run);
  EXPECT_EQ(summary.losses_left_out(), 2u);
  EXPECT_EQ(summary.evaluations_left_out(), 2u);
  EXPECT_EQ(summary.lost_records(), 12u);
}

// 65 steps are made, then the run is resumed from the 49th to end behind the 54th.
TEST(Summary, HoldsNothingOfAnAttemptThatGotFurther) {
  ReportedRun run;
  run.OpenAttempt({0, 1}, 49);
  std::vector<wire::StepRecord> given_up = Steps(0, 64);
  for (wire::StepRecord& step : given_up) step.total_ns = step.step < 49 ? 1'000'000 : 50'000'000;
  run.AddSteps({0, 0}, given_up);
  run.AddSteps({0, 1}, Steps(49, 53));
  run.record().set_end_step(54);
  const v1::StepFigures whole = SummaryOf(run).whole();
  EXPECT_EQ(whole.steps(), 54u);
  EXPECT_NEAR(whole.phases_us().total().mean(), 1000, kTolerance);
}

TEST(Summary, AnEpochIsCompleteOnceTheNextBegins) {
  EXPECT_FALSE(SummaryOfSteps({EpochStep(0, 0, 10), EpochStep(1, 0, 20)}).has_seconds_per_epoch());
  EXPECT_NEAR(SummaryOfSteps({EpochStep(0, 0, 10), EpochStep(1, 0, 20), EpochStep(2, 1, 50),
                              EpochStep(3, 1, 60), EpochStep(4, 2, 1000)})
                  .seconds_per_epoch(),
              (0.030 + 0.110) / 2, kTolerance);
}

TEST(Summary, AnEpochWithAMissingOrUnmeasuredStepDoesNotCount) {
  EXPECT_FALSE(
      SummaryOfSteps({EpochStep(0, 0, 10), EpochStep(2, 0, 20), EpochStep(3, 1, 50)}).has_seconds_per_epoch());
  EXPECT_FALSE(
      SummaryOfSteps({EpochStep(0, 0, 10), EpochStep(1, 0, 0), EpochStep(2, 1, 50)}).has_seconds_per_epoch());
  EXPECT_FALSE(
      SummaryOfSteps({EpochStep(7, 0, 10), EpochStep(8, 0, 10), EpochStep(9, 1, 50)}).has_seconds_per_epoch());
}

TEST(Summary, AFlaggedFirstStepBeginsAnEpochAfterAGap) {
  wire::StepRecord first = EpochStep(7, 1, 10);
  first.flags = wire::kFirstOfEpoch;
  EXPECT_NEAR(SummaryOfSteps({EpochStep(0, 0, 10), first, EpochStep(8, 1, 10), EpochStep(9, 2, 50)})
                  .seconds_per_epoch(),
              0.020, kTolerance);
}

TEST(Summary, PeakMemoryComesFromSamplesThatHaveIt) {
  ReportedRun run;
  EXPECT_FALSE(SummaryOf(run).has_peak_device_bytes());
  std::vector<v1::Sample> samples(3);
  samples[1].set_time_ns(1);
  samples[1].set_device_memory_bytes(500);
  samples[2].set_time_ns(2);
  samples[2].set_device_memory_bytes(400);
  run.AddSamples({}, samples);
  EXPECT_EQ(SummaryOf(run).peak_device_bytes(), 500u);
}

v1::Event EventOf(const std::string& name, std::int64_t start_ns, std::uint64_t duration_ns) {
  v1::Event event;
  event.set_name(name);
  event.set_start_ns(start_ns);
  event.set_duration_ns(duration_ns);
  return event;
}

TEST(Summary, EventsAreAddedUpByName) {
  ReportedRun run;
  run.AddEvents({EventOf("checkpoint", 1, 500'000'000), EventOf("gc", 2, 2'000'000'000),
                 EventOf("checkpoint", 3, 250'000'000)});
  const v1::SummarizeRunResponse summary = SummaryOf(run);
  ASSERT_EQ(summary.events_size(), 2);
  EXPECT_EQ(summary.events(0).name(), "gc");
  EXPECT_EQ(summary.events(0).count(), 1u);
  EXPECT_EQ(summary.events(0).seconds(), 2);
  EXPECT_EQ(summary.events(1).name(), "checkpoint");
  EXPECT_EQ(summary.events(1).count(), 2u);
  EXPECT_EQ(summary.events(1).seconds(), 0.75);
}

TEST(Summary, OfManyNamesOfEventsTheLongestAreTold) {
  ReportedRun run;
  std::vector<v1::Event> events;
  for (std::uint64_t i = 0; i < 100; ++i) events.push_back(EventOf(absl::StrCat("event ", i), 1, i));
  run.AddEvents(events);
  const v1::SummarizeRunResponse summary = SummaryOf(run);
  ASSERT_EQ(summary.events_size(), 64);
  EXPECT_EQ(summary.events(0).name(), "event 99");
  EXPECT_EQ(summary.events(63).name(), "event 36");
}

v1::CorruptGraphs CorruptAt(std::uint64_t step, std::uint64_t first, std::uint64_t end) {
  v1::CorruptGraphs batch;
  batch.set_step(step);
  batch.set_epoch(step / 10);
  batch.set_batch_index(step % 10);
  batch.set_split("train");
  for (std::uint64_t graph = first; graph < end; ++graph) batch.add_graphs(graph);
  return batch;
}

TEST(Summary, GraphsThatBatchesCameWithoutAreListed) {
  ReportedRun run;
  run.AddCorruptGraphs({CorruptAt(2, 5, 7), CorruptAt(13, 5, 6)});
  const v1::CorruptGraphSummary corrupt = SummaryOf(run).corrupt_graphs();
  EXPECT_EQ(corrupt.count(), 3u);
  EXPECT_EQ(corrupt.graphs(), 2u);
  EXPECT_FALSE(corrupt.truncated());
  ASSERT_EQ(corrupt.list_size(), 3);
  EXPECT_EQ(corrupt.list(1).ShortDebugString(), "graph: 6 step: 2 batch_index: 2 split: \"train\"");
  EXPECT_EQ(corrupt.list(2).ShortDebugString(), "graph: 5 step: 13 epoch: 1 batch_index: 3 split: \"train\"");
}

TEST(Summary, OfManyCorruptGraphsTheFirstThousandAreListed) {
  ReportedRun run;
  run.AddCorruptGraphs({CorruptAt(0, 0, 999), CorruptAt(1, 0, 1)});
  EXPECT_FALSE(SummaryOf(run).corrupt_graphs().truncated());
  run.AddCorruptGraphs({CorruptAt(2, 0, 7)});
  const v1::CorruptGraphSummary corrupt = SummaryOf(run).corrupt_graphs();
  EXPECT_EQ(corrupt.count(), 1007u);
  EXPECT_EQ(corrupt.graphs(), 999u);
  EXPECT_EQ(corrupt.list_size(), 1000);
  EXPECT_TRUE(corrupt.truncated());
}

TEST(Summary, ARunWithoutStepsHasZeros) {
  ReportedRun run;
  const v1::SummarizeRunResponse summary = SummaryOf(run);
  EXPECT_EQ(summary.run(), "run");
  EXPECT_EQ(summary.whole().steps(), 0u);
  EXPECT_EQ(summary.whole().graphs_per_second(), 0);
  EXPECT_EQ(summary.fill().nodes(), 0);
}

}  // namespace
}  // namespace packtrain::analysis
