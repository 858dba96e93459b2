#include "server/analysis/energy.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "server/analysis/summary.h"
#include "tests/server/analysis/reported_run.h"

namespace packtrain::analysis {
namespace {

using ::testing::DoubleNear;
using ::testing::Eq;
using ::testing::Optional;

constexpr std::uint64_t kSecond = 1'000'000'000;

// A sample at `second` of a process whose last step was `step`.
v1::Sample SampleOf(double second, std::uint64_t step, double joules, const std::string& device_id = "") {
  v1::Sample sample;
  sample.set_time_ns(static_cast<std::int64_t>(second * kSecond));
  sample.set_step(step);
  sample.set_device_energy_uj(static_cast<std::uint64_t>(joules * 1e6));
  sample.set_device_id(device_id);
  return sample;
}

class Energy : public ::testing::Test {
 protected:
  // Begins a run of `world_size` ranks whose steps 0 .. 9 are done, each in half a second and of 32 graphs a
  // rank.
  void Start(std::uint32_t world_size = 1) {
    run_ = ReportedRun("run", world_size);
    for (std::uint32_t rank = 0; rank < world_size; ++rank) {
      std::vector<wire::StepRecord> steps;
      for (std::uint64_t i = 0; i < 10; ++i) steps.push_back(Step(i, kSecond / 2, i < 2 ? wire::kWarmUp : 0u));
      run_.AddSteps({rank, 0}, steps);
    }
  }

  void Add(std::uint32_t rank, const std::vector<v1::Sample>& samples) { run_.AddSamples({rank, 0}, samples); }

  std::optional<double> JoulesPerGraph() {
    const v1::SummarizeRunResponse summary = Summarize(run_.Load());
    if (!summary.has_joules_per_graph()) return std::nullopt;
    return summary.joules_per_graph();
  }

  // What `watts` come to: 32 graphs a rank take half a second.
  ::testing::Matcher<std::optional<double>> Watts(double watts) {
    return Optional(DoubleNear(watts * 0.5 / (32.0 * run_.record().description().world_size()), 1e-9));
  }

  ReportedRun run_;
};

TEST_F(Energy, IsMeanPowerTimesSecondsOfAGraph) {
  Start();
  Add(0, {SampleOf(1, 2, 1000), SampleOf(2, 4, 1200), SampleOf(3, 6, 1500), SampleOf(4, 8, 1900)});
  EXPECT_THAT(JoulesPerGraph(), Watts(300));
}

// 80 W, and a graph takes a 64th of a second.
TEST_F(Energy, IsTheSameWhateverIsDoneToTheWallClock) {
  Start();
  std::vector<v1::Sample> samples;
  for (const auto& [second, step] : {std::pair(1.0, 2), {2.0, 4}, {3.0, 6}, {4.0, 8}}) {
    samples.push_back(SampleOf(second, static_cast<std::uint64_t>(step), 1000 + 80 * second));
  }
  for (const std::vector<double>& shifts :
       {std::vector<double>{0, 3600, 3600, 3600}, {0, -5, -5, -5}, {0, 0, 5, 5}, {0, 3600, -3595, 5}}) {
    Start();
    for (std::size_t k = 0; k < samples.size(); ++k) {
      samples[k].set_time_ns(static_cast<std::int64_t>((1'000'000 + 1.0 * k + shifts[k]) * kSecond));
      samples[k].set_monotonic_ns(static_cast<std::int64_t>((7 + 1.0 * k) * kSecond));
    }
    std::vector<v1::Sample> stored = samples;
    std::ranges::sort(stored, {}, [](const v1::Sample& sample) { return sample.time_ns(); });
    Add(0, stored);
    EXPECT_THAT(JoulesPerGraph(), Optional(DoubleNear(1.25, 1e-9)));
  }
}

TEST_F(Energy, IsUnknownWithoutReadings) {
  Start();
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
  v1::Sample no_energy = SampleOf(1, 2, 0), no_step = SampleOf(4, 0, 300);
  no_energy.clear_device_energy_uj();
  no_step.clear_step();
  Add(0, {no_energy, no_step});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
}

TEST_F(Energy, IsUnknownFromOneReadingOrLessThanTwoSeconds) {
  Start();
  Add(0, {SampleOf(1, 2, 1000)});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
  Add(0, {SampleOf(2.9, 5, 1500)});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
  Add(0, {SampleOf(3, 6, 1600)});
  EXPECT_THAT(JoulesPerGraph(), Watts(300));
}

TEST_F(Energy, OfWarmUpAndAfterTheLastStepIsLeftOut) {
  Start();
  Add(0, {SampleOf(0.5, 0, 0), SampleOf(1, 1, 1000), SampleOf(2, 4, 2000), SampleOf(3, 6, 2200),
          SampleOf(4, 8, 2400), SampleOf(9, 9, 9000), SampleOf(19, 9, 9900)});
  EXPECT_THAT(JoulesPerGraph(), Watts(200));
}

TEST_F(Energy, ACounterThatGoesBackwardsEndsASpan) {
  Start();
  Add(0, {SampleOf(1, 2, 9000), SampleOf(3, 4, 9600), SampleOf(3.5, 5, 10), SampleOf(5.5, 8, 410)});
  EXPECT_THAT(JoulesPerGraph(), Watts(250));
}

TEST_F(Energy, ACounterThatBeginsAnewWithEverySampleIsUnknown) {
  Start();
  Add(0, {SampleOf(1, 2, 9000), SampleOf(3, 4, 100), SampleOf(6, 7, 50)});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
}

TEST_F(Energy, OfRanksOnDevicesOfTheirOwnAddsUp) {
  Start(2);
  Add(0, {SampleOf(1, 2, 0, "GPU-a"), SampleOf(4, 8, 300, "GPU-a")});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt)) << "one rank's energy is not known";
  Add(1, {SampleOf(1, 2, 0, "GPU-b"), SampleOf(4, 8, 600, "GPU-b")});
  EXPECT_THAT(JoulesPerGraph(), Watts(300));
}

TEST_F(Energy, OfADeviceThatRanksShareCountsOnce) {
  Start(2);
  for (const std::uint32_t rank : {0, 1}) {
    Add(rank, {SampleOf(1, 2, 0, "GPU-a"), SampleOf(4, 8, 900, "GPU-a")});
  }
  EXPECT_THAT(JoulesPerGraph(), Watts(300));
}

TEST_F(Energy, OfAnAttemptWhoseStepsWereDoneAgainIsLeftOut) {
  Start();
  run_.AddSteps({.rank = 0, .attempt = 1}, {Step(5, kSecond / 2), Step(6, kSecond / 2)});
  ReportedRun longer = run_;
  Add(0, {SampleOf(1, 2, 0), SampleOf(4, 8, 9000)});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
  run_ = longer;
  Add(0, {SampleOf(1, 2, 0), SampleOf(3, 3, 1000), SampleOf(4, 8, 9000)});
  EXPECT_THAT(JoulesPerGraph(), Watts(500)) << "until the step before those, all is the first attempt's";
}

// Steps 0 .. 99 of 20 ms; those that `seconds` names take longer, and capture.
void AddStepsWithCaptures(ReportedRun& run, const std::map<std::uint64_t, double>& seconds) {
  std::vector<wire::StepRecord> steps;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto capture = seconds.find(i);
    steps.push_back(capture == seconds.end()
                        ? Step(i, kSecond / 50)
                        : Step(i, static_cast<std::uint64_t>(capture->second * kSecond), wire::kCapture));
  }
  run.AddSteps({}, steps);
}

class EnergyBesideCaptures : public Energy {
 protected:
  // 32 graphs take 20 ms.
  static ::testing::Matcher<std::optional<double>> SteadyWatts(double watts) {
    return Optional(DoubleNear(watts * 0.02 / 32, 1e-9));
  }

  // Samples a second apart, each that time of steady steps and of captures behind the one before.
  void AddSamples(const std::vector<double>& capture_seconds, double steady_watts, double capture_watts) {
    std::vector<v1::Sample> samples = {SampleOf(1, 0, 0)};
    double joules = 0;
    for (std::size_t i = 0; i < capture_seconds.size(); ++i) {
      joules += steady_watts * (1 - capture_seconds[i]) + capture_watts * capture_seconds[i];
      samples.push_back(SampleOf(2 + static_cast<double>(i), 10 * (i + 1), joules));
    }
    Add(0, samples);
  }
};

TEST_F(EnergyBesideCaptures, LeavesOutWhatTheyTook) {
  AddStepsWithCaptures(run_, {{3, 0.3}, {7, 0.2}, {13, 0.1}});
  AddSamples({0.5, 0.1, 0, 0}, /*steady_watts=*/300, /*capture_watts=*/100);
  EXPECT_THAT(JoulesPerGraph(), SteadyWatts(300));
}

TEST_F(EnergyBesideCaptures, TakesThemForSteadyWhereNothingTellsThemApart) {
  AddStepsWithCaptures(run_, {{5, 0.1}, {15, 0.1}, {25, 0.1}});
  AddSamples({0.1, 0.1, 0.1}, /*steady_watts=*/300, /*capture_watts=*/100);
  EXPECT_THAT(JoulesPerGraph(), SteadyWatts(280));
}

TEST_F(EnergyBesideCaptures, GivesThemNoPowerBelowNoneOrAboveThatOfSteps) {
  AddStepsWithCaptures(run_, {{5, 0.5}});
  AddSamples({0.5, 0, 0, 0}, /*steady_watts=*/300, /*capture_watts=*/900);
  EXPECT_THAT(JoulesPerGraph(), SteadyWatts((3.5 * 300 + 0.5 * 900) / 4));
}

TEST_F(EnergyBesideCaptures, IsUnknownBelowTwoSecondsWithoutThem) {
  AddStepsWithCaptures(run_, {{5, 0.5}, {15, 0.6}});
  AddSamples({0.5, 0.6, 0}, /*steady_watts=*/300, /*capture_watts=*/100);
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
}

TEST_F(Energy, OfSamplesWhoseStepsGoBackwardsIsUnknown) {
  Start();
  Add(0, {SampleOf(1, 5, 0), SampleOf(4, 4, 300)});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
}

TEST_F(Energy, OfStepsBeyondAllNumbersIsNotLookedFor) {
  Start();
  Add(0, {SampleOf(1, 2, 0), SampleOf(4, ~std::uint64_t{0}, 300), SampleOf(7, 3, 600)});
  EXPECT_THAT(JoulesPerGraph(), Eq(std::nullopt));
}

}  // namespace
}  // namespace packtrain::analysis
