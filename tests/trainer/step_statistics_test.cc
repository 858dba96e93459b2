#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <vector>

#include "trainer/run/process_sampler.h"
#include "trainer/run/step_statistics.h"

namespace packtrain::trainer {
namespace {

TEST(StepStatistics, GoesOnFromTotals) {
  wire::StepRecord step;
  step.real.graphs = 10;
  step.total_ns = 1000;
  StepStatistics whole, first;
  for (int i = 0; i < 5; ++i) whole.Add(step);
  for (int i = 0; i < 2; ++i) first.Add(step);
  StepStatistics second(first.totals());
  for (int i = 2; i < 5; ++i) second.Add(step);
  EXPECT_EQ(second.totals().steps, 5);
  EXPECT_EQ(second.totals().graphs, whole.totals().graphs);
  EXPECT_EQ(second.totals().steady, whole.totals().steady);
}

TEST(StepStatistics, LeavesOutUnsteadySteps) {
  StepStatistics statistics;
  for (std::uint32_t i = 0; i < 8; ++i) {
    wire::StepRecord step;
    step.real.graphs = 10;
    step.loss = 1.0 / (i + 1);
    step.total_ns = i < 3 ? 1'000'000 : 1000 * (i + 1);
    step.wait_ns = 500;
    step.flags = i < 3 ? wire::kWarmUp : wire::kShortBatch;
    statistics.Add(step);
  }
  const SteadyFigures steady = statistics.Steady();
  EXPECT_EQ(statistics.totals().steps, 8);
  EXPECT_EQ(statistics.totals().graphs, 80);
  EXPECT_EQ(steady.steps, 5);
  EXPECT_EQ(steady.graphs, 50);
  EXPECT_DOUBLE_EQ(steady.mean_us, 6);
  EXPECT_NEAR(steady.median_us, 6, 6 * TimeHistogram::kMaxRelativeError);
  EXPECT_NEAR(steady.p5_us, 4.2, 4.2 * TimeHistogram::kMaxRelativeError);
  EXPECT_NEAR(steady.p95_us, 7.8, 7.8 * TimeHistogram::kMaxRelativeError);
  EXPECT_DOUBLE_EQ(steady.seconds, 30e-6);
  EXPECT_NEAR(steady.wait_share, 2500.0 / 30000, 1e-12);
  EXPECT_DOUBLE_EQ(statistics.totals().last_loss, 1.0 / 8);
}

TEST(TimeHistogram, KnowsEveryTimeByItsRelativeError) {
  for (std::uint64_t ns = 1; ns < std::uint64_t{1} << 62; ns += 1 + ns / 97) {
    for (const std::uint64_t time :
         {ns, std::uint64_t{std::bit_floor(ns)}, std::uint64_t{std::bit_floor(ns)} - 1}) {
      TimeHistogram times;
      times.Add(time);
      EXPECT_NEAR(times.Quantile(0.5), static_cast<double>(time),
                  static_cast<double>(time) * TimeHistogram::kMaxRelativeError);
      EXPECT_EQ(times.sum_ns(), time);
    }
  }
  TimeHistogram greatest;
  greatest.Add(~std::uint64_t{0});
  EXPECT_LT(greatest.buckets().front().index, 7'424u);
}

TEST(TimeHistogram, QuantilesLieBetweenNeighbours) {
  TimeHistogram times;
  EXPECT_TRUE(std::isnan(times.Quantile(0.5)));
  for (const std::uint64_t ns : {10, 100, 20, 40}) times.Add(ns);
  EXPECT_DOUBLE_EQ(times.Quantile(0), 10);
  EXPECT_DOUBLE_EQ(times.Quantile(0.5), 30);
  EXPECT_DOUBLE_EQ(times.Quantile(1), 100);
  EXPECT_EQ(times.count(), 4);
}

TEST(TimeHistogram, IsRestoredFromItsBucketsAndFromNoOthers) {
  TimeHistogram times, restored;
  for (const std::uint64_t ns : {5, 5, 1'000'000, 7'000'000}) times.Add(ns);
  EXPECT_TRUE(restored.Restore(times.sum_ns(), times.buckets()));
  EXPECT_EQ(restored, times);
  using Buckets = std::vector<TimeHistogram::Bucket>;
  for (const Buckets& bad : {Buckets{{7'424, 1}}, Buckets{{1, 0}}, Buckets{{2, 1}, {2, 1}},
                             Buckets{{2, 1}, {1, 1}}, Buckets{{1, ~std::uint64_t{0}}, {2, 1}}}) {
    EXPECT_FALSE(restored.Restore(1, bad));
    EXPECT_EQ(restored, times);
  }
}

TEST(StepStatistics, WithoutSteadyStepsHasNoFigures) {
  StepStatistics statistics;
  wire::StepRecord step;
  step.flags = wire::kWarmUp;
  step.loss = std::nan("");
  statistics.Add(step);
  EXPECT_TRUE(std::isnan(statistics.Steady().median_us));
  EXPECT_TRUE(std::isnan(statistics.totals().last_loss));
}

TEST(SampleProcess, ReadsTimeProcessorAndMemory) {
  const client::Sample sample = SampleProcess();
  EXPECT_GE(sample.monotonic_ns, 0);
  EXPECT_LE(sample.monotonic_ns, SampleProcess().monotonic_ns);
  EXPECT_GT(sample.time_ns, 1'600'000'000'000'000'000);
  EXPECT_GT(sample.process_cpu_ns, 0);
  EXPECT_GT(sample.rss_bytes, 1 << 20);
}

TEST(ProcessSampler, SamplesOnceAtLeast) {
  std::vector<client::Sample> samples;
  {
    const ProcessSampler sampler(
        [] { return DeviceReading{.memory_bytes = 5, .use = 0.5, .energy_uj = 7, .id = "GPU-1"}; },
        [&](const client::Sample& sample) { samples.push_back(sample); });
  }
  ASSERT_FALSE(samples.empty());
  EXPECT_EQ(samples.front().device_memory_bytes, 5);
  EXPECT_EQ(samples.front().device_use, 0.5);
  EXPECT_EQ(samples.front().device_energy_uj, 7);
  EXPECT_EQ(samples.front().device_id, "GPU-1");
}

}  // namespace
}  // namespace packtrain::trainer
