// That the number of ranks may change in mid-epoch, over drawn scenarios. A failure names the seed that drew
// the scenario.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "server/batching/step_windows.h"
#include "tests/server/batching/graphs_of.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

// 5. After the segments, another number of ranks goes on with exactly the batches that are left.

TEST(WorldSizeChangeTest, TheWorldOnlyDealsTheSameBatchesOut) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    if (scenario.spec.balance == wire::Balance::kCost) return;
    const PlanPtr one_rank = plan.DealtTo({}).value();
    const std::uint64_t batches = plan.Summarize().batches;
    for (std::uint64_t index = 0; index < batches; ++index) {
      EXPECT_TRUE(std::ranges::equal(plan.BatchAt(index)->graphs, one_rank->BatchAt(index)->graphs));
    }
  });
}

// The world in which segment `segment` was trained.
wire::World During(const wire::World& world, std::size_t segment) {
  std::vector<wire::Segment> before = world.segments;
  before.resize(segment);
  return {world.segments[segment].world_size, std::move(before)};
}

TEST(WorldSizeChangeTest, ASegmentIsWhatItsRanksGot) {
  ForEachPlan([](const Scenario&, const wire::World& world, const Plan& plan) {
    std::uint64_t step = 0;
    for (std::size_t segment = 0; segment < world.segments.size(); ++segment) {
      const PlanPtr then = plan.DealtTo(During(world, segment)).value();
      const std::uint64_t first = plan.FirstOfStep(step);
      step += world.segments[segment].steps;
      EXPECT_LE(step, then->steps());
      EXPECT_EQ(plan.FirstOfStep(step), then->FirstOfStep(step));
      for (std::uint64_t index = first; index < plan.FirstOfStep(step); ++index) {
        EXPECT_TRUE(Equal(*plan.BatchAt(index), *then->BatchAt(index))) << "batch " << index;
      }
    }
  });
}

// The graphs of each real batch, sorted.
std::vector<Indices> BatchesOf(const Plan& plan) {
  std::vector<Indices> batches;
  for (const PlannedBatch& batch : AllBatches(plan)) {
    if (!batch.empty) batches.emplace_back(batch.graphs.begin(), batch.graphs.end());
  }
  std::ranges::sort(batches);
  return batches;
}

// The graphs of all ranks at each step, ascending.
std::vector<Indices> StepsOf(const Plan& plan) {
  std::vector<Indices> steps(plan.steps());
  for (const PlannedBatch& batch : AllBatches(plan)) {
    steps[batch.step].insert(steps[batch.step].end(), batch.graphs.begin(), batch.graphs.end());
  }
  for (Indices& graphs : steps) std::ranges::sort(graphs);
  return steps;
}

TEST(WorldSizeChangeTest, BalanceKeepsTheGraphsOfAStepOrWholeBatches) {
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
    if (scenario.spec.balance == wire::Balance::kNone) return;
    Scenario unbalanced = scenario;
    unbalanced.spec.balance = wire::Balance::kNone;
    unbalanced.spec.cost = std::nullopt;
    const PlanPtr none = Plan::Create(unbalanced.Request(world)).value();
    EXPECT_EQ(plan.steps(), none->steps());
    if (scenario.spec.policy == wire::Policy::kStatic) {
      EXPECT_EQ(StepsOf(plan), StepsOf(*none));
    } else if (scenario.spec.drop_last && !world.segments.empty()) {
      // The last batches may be those of a window that was made for the ranks before.
      EXPECT_EQ(BatchesOf(plan).size(), BatchesOf(*none).size());
    } else {
      EXPECT_EQ(BatchesOf(plan), BatchesOf(*none));
    }
  });
}

// Checks a change at every step of an epoch.
void CheckChanges(const Plan& one_rank, std::uint32_t from, std::uint32_t to, bool drop_last,
                  wire::Balance balance) {
  const absl::StatusOr<PlanPtr> before = one_rank.DealtTo({from});
  if (!before.ok()) return;
  const Indices all = Sorted(GraphsOf(AllBatches(one_rank)));
  const std::uint64_t batches = one_rank.steps();
  for (std::uint64_t steps = 1; steps <= (*before)->steps(); ++steps) {
    SCOPED_TRACE(absl::StrCat(steps, " steps of ", from, " ranks, then ", to));
    const PlanPtr after = one_rank.DealtTo({to, {{from, steps}}}).value();
    const std::uint64_t left = batches - std::min(batches, steps * from);
    EXPECT_EQ(after->steps(), steps + (drop_last ? left / to : (left + to - 1) / to));
    EXPECT_EQ(after->FirstOfStep(steps), steps * from);
    if (!drop_last) {
      EXPECT_EQ(Sorted(GraphsOf(AllBatches(*after))), all);
    }
    if (balance == wire::Balance::kCost) continue;
    for (std::uint64_t index = steps * from; index < batches - (drop_last ? left % to : 0); ++index) {
      const PlannedBatch batch = after->BatchAt(index).value();
      EXPECT_TRUE(std::ranges::equal(batch.graphs, one_rank.BatchAt(index)->graphs));
      EXPECT_EQ(batch.step, steps + (index - steps * from) / to);
      EXPECT_EQ(batch.rank, (index - steps * from) % to);
    }
  }
}

TEST(WorldSizeChangeTest, TheWorldMayChangeAfterAnyStep) {
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    const absl::StatusOr<PlanPtr> one_rank = Plan::Create(scenario.Request({}));
    if (!one_rank.ok()) continue;
    SCOPED_TRACE(scenario.name);
    for (const auto& [from, to] : {std::pair{2u, 1u}, {1u, 3u}, {3u, 8u}, {8u, 2u}, {2u, 2u}, {5u, 1000u}}) {
      CheckChanges(**one_rank, from, to, scenario.spec.drop_last, scenario.spec.balance);
    }
    if (HasFailure()) return;
  }
}

// A scenario whose balanced batches are whole and hold one graph each, or none for a policy without a budget.
std::optional<Scenario> DrawGraphByGraph(std::uint64_t seed) {
  Scenario scenario = DrawScenario(seed);
  if (scenario.spec.policy == wire::Policy::kStatic) return std::nullopt;
  scenario.spec.max_graphs = 1;
  scenario.spec.oversize = wire::Oversize::kAlone;
  scenario.spec.drop_last = false;
  scenario.spec.balance = wire::Balance::kCost;
  return scenario;
}

// The graphs of batches first .. last-1.
Indices GraphsBetween(const Plan& plan, std::uint64_t first, std::uint64_t last) {
  Indices graphs;
  for (std::uint64_t index = first; index < last; ++index) {
    std::ranges::copy(plan.BatchAt(index)->graphs, std::back_inserter(graphs));
  }
  return graphs;
}

// Checks a change after `steps` steps, which lie in the window of batches [.., end) of the ranks before. False
// where the epoch has no whole window of the ranks after.
bool CheckChangeInWindow(const Plan& one_rank, std::uint32_t from, std::uint32_t to, std::uint64_t steps,
                         std::uint64_t end) {
  const PlanPtr before = one_rank.DealtTo({from}).value();
  const PlanPtr after = one_rank.DealtTo({to, {{from, steps}}}).value();
  EXPECT_EQ(Sorted(GraphsBetween(*after, 0, end)), Sorted(GraphsBetween(one_rank, 0, end)));
  EXPECT_EQ(GraphsBetween(*after, 0, end), GraphsBetween(*before, 0, end));
  const std::uint64_t begin = end + (to - (end - steps * from) % to) % to;
  const std::uint64_t next_end = begin + kWindowSteps * to;
  if (next_end > one_rank.steps()) return false;
  EXPECT_EQ(GraphsBetween(*after, end, begin), GraphsBetween(one_rank, end, begin));
  EXPECT_EQ(Sorted(GraphsBetween(*after, begin, next_end)), Sorted(GraphsBetween(one_rank, begin, next_end)));
  return true;
}

// Of each window: after its first step, before its last one and at its end.
int CheckChangesAtWindowEnds(const Plan& one_rank, std::uint32_t from, std::uint32_t to) {
  int checked = 0;
  const std::uint64_t window = kWindowSteps * from;
  for (std::uint64_t end = window; end <= one_rank.steps(); end += window) {
    for (const std::uint64_t steps : {end / from - 1, end / from, end / from - kWindowSteps + 1}) {
      SCOPED_TRACE(absl::StrCat(steps, " steps of ", from, " ranks, then ", to));
      checked += CheckChangeInWindow(one_rank, from, to, steps, end) ? 1 : 0;
    }
  }
  return checked;
}

TEST(WorldSizeChangeTest, ABalancedWindowIsDealtOutWholeBeforeTheNextWorldsBegins) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 360; ++seed) {
    const std::optional<Scenario> scenario = DrawGraphByGraph(seed);
    if (!scenario) continue;
    SCOPED_TRACE(scenario->name);
    const PlanPtr one_rank = Plan::Create(scenario->Request({})).value();
    for (const std::uint32_t from : {2u, 3u}) {
      for (const std::uint32_t to : {1u, 2u, 3u, 5u}) {
        checked += CheckChangesAtWindowEnds(*one_rank, from, to);
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(checked, 100);
}

// A segment more than fits is refused at every end that an epoch may have.
TEST(WorldSizeChangeTest, NoSegmentGoesOnBehindTheLastBatch) {
  ForEachPlan([](const Scenario&, const wire::World& world, const Plan& plan) {
    wire::World longer = world;
    longer.segments.push_back({world.size, plan.steps() + 1});
    for (const wire::Segment& segment : world.segments) longer.segments.back().steps -= segment.steps;
    EXPECT_EQ(plan.DealtTo(longer).status().code(), absl::StatusCode::kOutOfRange);
    if (--longer.segments.back().steps == 0) return;
    EXPECT_TRUE(plan.DealtTo(longer).ok());
  });
}

}  // namespace
}  // namespace packtrain::batching
