// That a stream may stop, go on and span epochs, over drawn scenarios. A failure names the seed that drew the
// scenario.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "tests/server/batching/dice.h"
#include "tests/server/batching/graphs_of.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

// 4. A stream that stops after step k and asks for step k+1 gets what an unbroken one would have got.

// One rank's batch, with a copy of its graphs.
struct Delivered {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::uint64_t index = 0;
  Indices graphs;
  wire::Shape padded;
  friend bool operator==(const Delivered&, const Delivered&) = default;
};

struct Position {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
};

// The next `count` batches of a rank, every epoch planned anew; none where an epoch cannot be planned.
std::vector<Delivered> Stream(Scenario scenario, std::uint32_t world_size, std::uint32_t rank, Position from,
                              std::size_t count) {
  std::vector<Delivered> batches;
  for (scenario.epoch = from.epoch; batches.size() < count; ++scenario.epoch, from.step = 0) {
    const absl::StatusOr<PlanPtr> plan = Plan::Create(scenario.Request({world_size}));
    if (!plan.ok()) return {};
    for (; from.step < (*plan)->steps() && batches.size() < count; ++from.step) {
      const PlannedBatch batch = *(*plan)->BatchAt((*plan)->FirstOfStep(from.step) + rank);
      batches.push_back(
          {scenario.epoch, batch.step, batch.index, {batch.graphs.begin(), batch.graphs.end()}, batch.padded});
    }
  }
  return batches;
}

// The position after `batch`: at an epoch's edge its own epoch's end, or the next one's beginning.
Position After(const Delivered& batch, const Delivered& next, bool as_end) {
  if (batch.epoch == next.epoch || as_end) return {batch.epoch, batch.step + 1};
  return {next.epoch, 0};
}

// As a run does that is killed after each of `stops` batches.
std::vector<Delivered> BrokenStream(const Scenario& scenario, std::uint32_t world_size, std::uint32_t rank,
                                    const std::vector<Delivered>& unbroken, const std::set<std::size_t>& stops,
                                    bool as_end) {
  std::vector<Delivered> batches;
  for (const std::size_t stop : stops) {
    const std::size_t done = batches.size();
    const Position from =
        done == 0 ? Position{scenario.epoch, 0} : After(unbroken[done - 1], unbroken[done], as_end);
    std::ranges::move(Stream(scenario, world_size, rank, from, stop - done), std::back_inserter(batches));
  }
  return batches;
}

TEST(ResumeTest, AStreamStoppedTwiceGoesOnAsTheUnbrokenOne) {
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    Scenario scenario = DrawScenario(seed);
    Dice dice(seed);
    const std::uint32_t world_size = dice.One({1u, 2u, 3u, 8u});
    const std::uint32_t rank = dice.Between(0, world_size - 1);
    const std::uint32_t count = dice.Between(2, 60);
    const std::vector<Delivered> unbroken = Stream(scenario, world_size, rank, {scenario.epoch, 0}, count);
    if (unbroken.empty()) continue;
    const std::set<std::size_t> stops = {dice.Between(1, count - 1), dice.Between(1, count - 1), count};
    SCOPED_TRACE(absl::StrCat(scenario.name, "; rank ", rank, " of ", world_size, ", stopped first after ",
                              *stops.begin(), " of ", count, " batches"));
    const std::vector<Delivered> broken =
        BrokenStream(scenario, world_size, rank, unbroken, stops, dice.OneIn(2));
    ASSERT_EQ(broken, unbroken);
  }
}

TEST(ResumeTest, AStreamStoppedAtAnEpochsEdgeGoesOnAsTheUnbrokenOne) {
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    const absl::StatusOr<PlanPtr> plan = Plan::Create(scenario.Request({2}));
    if (!plan.ok()) continue;
    SCOPED_TRACE(scenario.name);
    const std::size_t steps = (*plan)->steps();
    const std::vector<Delivered> unbroken = Stream(scenario, 2, 1, {scenario.epoch, 0}, steps + 1);
    if (unbroken.empty()) continue;
    for (const bool as_end : {false, true}) {
      for (const std::set<std::size_t>& stops :
           {std::set{steps, steps + 1}, std::set{steps - 1, steps, steps + 1}}) {
        if (stops.contains(0)) continue;
        ASSERT_EQ(BrokenStream(scenario, 2, 1, unbroken, stops, as_end), unbroken);
      }
    }
  }
}

// 7. A stream may span epochs. That the next plan is made meanwhile: tests/server/serving/stream_property_test.

TEST(NoGapTest, AStreamOverEpochsIsTheStreamsOfEachOneAfterAnother) {
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    Scenario scenario = DrawScenario(seed);
    SCOPED_TRACE(scenario.name);
    std::vector<Delivered> epochs;
    for (const std::uint64_t epoch : {scenario.epoch, scenario.epoch + 1, scenario.epoch + 2}) {
      Scenario one = scenario;
      one.epoch = epoch;
      const absl::StatusOr<PlanPtr> plan = Plan::Create(one.Request({2}));
      if (!plan.ok()) break;
      std::ranges::move(Stream(one, 2, 0, {epoch, 0}, (*plan)->steps()), std::back_inserter(epochs));
    }
    ASSERT_EQ(Stream(scenario, 2, 0, {scenario.epoch, 0}, epochs.size()), epochs);
  }
}

}  // namespace
}  // namespace packtrain::batching
