// The guarantees of a plan, one suite each, over drawn scenarios. A failure names the seed that drew it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "server/batching/policy_kind.h"
#include "server/batching/step_windows.h"
#include "tests/server/batching/dice.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

using Indices = std::vector<std::uint32_t>;
using PlanPtr = std::unique_ptr<const Plan>;

Indices GraphsOf(const std::vector<PlannedBatch>& batches) {
  Indices graphs;
  for (const PlannedBatch& batch : batches)
    graphs.insert(graphs.end(), batch.graphs.begin(), batch.graphs.end());
  return graphs;
}

Indices Sorted(Indices values) {
  std::sort(values.begin(), values.end());
  return values;
}

Indices Without(const Indices& values, const Indices& left_out) {
  Indices rest;
  std::ranges::set_difference(values, left_out, std::back_inserter(rest));
  return rest;
}

Indices Skipped(const Scenario& scenario, const Plan& plan) {
  return scenario.spec.oversize == Oversize::kSkip ? plan.Summarize().oversize_graphs : Indices();
}

// 1. Over all ranks, one epoch delivers each graph of the split once, less counted skips.

TEST(ExactlyOnceTest, EachGraphOfTheSplitComesOnceAnEpoch) {
  ForEachPlan([](const Scenario& scenario, const World&, const Plan& plan) {
    if (scenario.spec.drop_last) return;
    const Indices expected = Without(scenario.split, Skipped(scenario, plan));
    EXPECT_EQ(Sorted(GraphsOf(AllBatches(plan))), expected);
    EXPECT_EQ(plan.Summarize().graphs, expected.size());
  });
}

TEST(ExactlyOnceTest, DropLastLeavesOutLessThanAStepAndRepeatsNothing) {
  ForEachPlan([](const Scenario& scenario, const World& world, const Plan& plan) {
    if (!scenario.spec.drop_last) return;
    const PlanPtr one_rank = plan.DealtTo({}).value();
    const Indices all = Sorted(GraphsOf(AllBatches(*one_rank)));
    EXPECT_EQ(all, Without(scenario.split, Skipped(scenario, plan)));
    const Indices delivered = Sorted(GraphsOf(AllBatches(plan)));
    EXPECT_TRUE(std::ranges::includes(all, delivered));
    EXPECT_EQ(std::ranges::adjacent_find(delivered), delivered.end());
    EXPECT_EQ(plan.Summarize().graphs, delivered.size());
    EXPECT_LT(one_rank->Summarize().batches - plan.Summarize().batches, world.size);
  });
}

// The training's budget cuts another split, in order; what is above it comes alone.
TEST(ExactlyOnceTest, EvaluationDeliversEachGraphOnceToo) {
  ForEachPlan([](const Scenario& scenario, const World& world, const Plan& plan) {
    Scenario evaluation = scenario;
    evaluation.split.resize(scenario.n_node.size());
    std::iota(evaluation.split.begin(), evaluation.split.end(), 0u);
    evaluation.spec.order = Order::kNone;
    evaluation.spec.window = std::nullopt;
    evaluation.spec.drop_last = false;
    if (const std::optional<Shape> budget = plan.Summarize().budget) {
      evaluation.spec.max_graphs = budget->graphs;
      evaluation.spec.nodes = budget->nodes;
      evaluation.spec.edges = budget->edges;
      evaluation.spec.budget_sample = std::nullopt;
      evaluation.spec.oversize = Oversize::kAlone;
    }
    const PlanPtr evaluated = Plan::Create(evaluation.Request({world.size})).value();
    EXPECT_EQ(Sorted(GraphsOf(AllBatches(*evaluated))), evaluation.split);
    EXPECT_EQ(evaluated->Summarize().budget, plan.Summarize().budget);
  });
}

// 2. Every rank has the same number of steps.

TEST(EqualStepsTest, EveryRankHasOneBatchAtEveryStep) {
  ForEachPlan([](const Scenario&, const World& world, const Plan& plan) {
    std::uint64_t index = 0;
    for (std::uint64_t step = 0; step < plan.steps(); ++step) {
      EXPECT_EQ(plan.FirstOfStep(step), index);
      for (std::uint32_t rank = 0; rank < RanksAt(world, step); ++rank, ++index) {
        const PlannedBatch batch = plan.BatchAt(index).value();
        EXPECT_EQ(batch.index, index);
        EXPECT_EQ(batch.step, step);
        EXPECT_EQ(batch.rank, rank);
      }
    }
    EXPECT_EQ(plan.FirstOfStep(plan.steps()), index);
    EXPECT_EQ(plan.BatchAt(index).status().code(), absl::StatusCode::kOutOfRange);
  });
}

TEST(EqualStepsTest, EmptyBatchesOnlyFillUpTheLastStep) {
  ForEachPlan([](const Scenario& scenario, const World&, const Plan& plan) {
    const std::uint64_t batches = plan.Summarize().batches;
    for (const PlannedBatch& batch : AllBatches(plan)) {
      EXPECT_EQ(batch.empty, batch.index >= batches);
      EXPECT_EQ(batch.empty, batch.graphs.empty());
      if (!batch.empty) continue;
      EXPECT_FALSE(scenario.spec.drop_last);
      EXPECT_EQ(batch.step, plan.steps() - 1);
      EXPECT_EQ(batch.real, Shape{});
      EXPECT_GT(batch.rank, 0u);
      EXPECT_EQ(batch.padded, plan.BatchAt(plan.FirstOfStep(batch.step))->padded);
    }
  });
}

// 3. Equal requests give equal plans, and the fingerprint's text says which requests are equal.

void ExpectEqualPlans(const Plan& a, const Plan& b) {
  const std::vector<PlannedBatch> batches = AllBatches(a);
  ASSERT_EQ(b.FirstOfStep(b.steps()), batches.size());
  // Backwards: no batch depends on another having been asked for.
  for (std::uint64_t index = batches.size(); index-- > 0;) {
    EXPECT_TRUE(Equal(*b.BatchAt(index), batches[index])) << "batch " << index;
  }
}

TEST(PurityTest, EqualRequestsGiveEqualPlans) {
  ForEachPlan([](const Scenario& scenario, const World& world, const Plan& plan) {
    const auto elsewhere = std::make_unique<Scenario>(scenario);
    ExpectEqualPlans(*Plan::Create(elsewhere->Request(world)).value(), plan);
  });
}

TEST(PurityTest, ADealtPlanIsTheOneMadeForItsWorld) {
  ForEachPlan([](const Scenario& scenario, const World& world, const Plan& plan) {
    const PlanPtr one_rank = Plan::Create(scenario.Request({})).value();
    ExpectEqualPlans(*one_rank->DealtTo(world).value(), plan);
    ExpectEqualPlans(*plan.DealtTo({}).value(), *one_rank);
  });
}

TEST(PurityTest, ThreadsThatPlanAtOnceGetEqualPlans) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    SCOPED_TRACE(scenario.name);
    std::vector<absl::StatusOr<PlanPtr>> plans(4);
    std::vector<std::thread> threads;
    threads.reserve(plans.size());
    for (absl::StatusOr<PlanPtr>& plan : plans) {
      threads.emplace_back([&] { plan = Plan::Create(scenario.Request({3})); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::StatusOr<PlanPtr>& plan : plans) {
      ASSERT_EQ(plan.ok(), plans[0].ok());
      if (plan.ok()) ExpectEqualPlans(**plan, **plans[0]);
    }
  }
}

// Fills in what the spec leaves to its defaults, and changes what decides nothing.
BatchSpec SpeltOut(BatchSpec spec) {
  if (!spec.max_graphs) spec.max_graphs = MaxGraphs(spec);
  if (spec.policy == Policy::kPacked && !spec.lookahead) spec.lookahead = 64;
  if (spec.balance == Balance::kCost && !spec.cost) spec.cost = {0, 1, 1};
  if (spec.policy != Policy::kStatic) {
    if (spec.order == Order::kNone && spec.balance == Balance::kNone) spec.seed += 17;
    return spec;
  }
  if (spec.order == Order::kNone) spec.seed += 17;
  if (!spec.pad) spec.pad = Pad::kMultiple;
  return spec;
}

TEST(PurityTest, EqualCanonicalTextsMeanEqualPlans) {
  ForEachPlan([](const Scenario& scenario, const World& world, const Plan& plan) {
    Scenario spelt = scenario;
    spelt.spec = SpeltOut(scenario.spec);
    EXPECT_EQ(CanonicalText(spelt.spec), CanonicalText(scenario.spec));
    ExpectEqualPlans(*Plan::Create(spelt.Request(world)).value(), plan);
  });
}

TEST(PurityTest, OtherPlansHaveOtherCanonicalTexts) {
  std::map<std::string, BatchSpec> texts;
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    const auto [known, is_new] = texts.insert({CanonicalText(scenario.spec), scenario.spec});
    if (is_new) continue;
    SCOPED_TRACE(absl::StrCat(scenario.name, "; ", known->first));
    Scenario other = scenario;
    other.spec = known->second;
    const absl::StatusOr<PlanPtr> a = Plan::Create(scenario.Request({2}));
    const absl::StatusOr<PlanPtr> b = Plan::Create(other.Request({2}));
    ASSERT_EQ(a.status(), b.status());
    if (a.ok()) ExpectEqualPlans(**a, **b);
  }
}

// 4. A stream that stops after step k and asks for step k+1 gets what an unbroken one would have got.

// One rank's batch, with a copy of its graphs.
struct Delivered {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::uint64_t index = 0;
  Indices graphs;
  Shape padded;
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

// 5. After the segments, another number of ranks goes on with exactly the batches that are left.

TEST(WorldSizeChangeTest, TheWorldOnlyDealsTheSameBatchesOut) {
  ForEachPlan([](const Scenario& scenario, const World&, const Plan& plan) {
    if (scenario.spec.balance == Balance::kCost) return;
    const PlanPtr one_rank = plan.DealtTo({}).value();
    const std::uint64_t batches = plan.Summarize().batches;
    for (std::uint64_t index = 0; index < batches; ++index) {
      EXPECT_TRUE(std::ranges::equal(plan.BatchAt(index)->graphs, one_rank->BatchAt(index)->graphs));
    }
  });
}

// The world in which segment `segment` was trained.
World During(const World& world, std::size_t segment) {
  std::vector<Segment> before = world.segments;
  before.resize(segment);
  return {world.segments[segment].world_size, std::move(before)};
}

TEST(WorldSizeChangeTest, ASegmentIsWhatItsRanksGot) {
  ForEachPlan([](const Scenario&, const World& world, const Plan& plan) {
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
  ForEachPlan([](const Scenario& scenario, const World& world, const Plan& plan) {
    if (scenario.spec.balance == Balance::kNone) return;
    Scenario unbalanced = scenario;
    unbalanced.spec.balance = Balance::kNone;
    unbalanced.spec.cost = std::nullopt;
    const PlanPtr none = Plan::Create(unbalanced.Request(world)).value();
    EXPECT_EQ(plan.steps(), none->steps());
    if (scenario.spec.policy == Policy::kStatic) {
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
void CheckChanges(const Plan& one_rank, std::uint32_t from, std::uint32_t to, bool drop_last, Balance balance) {
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
    if (balance == Balance::kCost) continue;
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
  if (scenario.spec.policy == Policy::kStatic) return std::nullopt;
  scenario.spec.max_graphs = 1;
  scenario.spec.oversize = Oversize::kAlone;
  scenario.spec.drop_last = false;
  scenario.spec.balance = Balance::kCost;
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
  ForEachPlan([](const Scenario&, const World& world, const Plan& plan) {
    World longer = world;
    longer.segments.push_back({world.size, plan.steps() + 1});
    for (const Segment& segment : world.segments) longer.segments.back().steps -= segment.steps;
    EXPECT_EQ(plan.DealtTo(longer).status().code(), absl::StatusCode::kOutOfRange);
    if (--longer.segments.back().steps == 0) return;
    EXPECT_TRUE(plan.DealtTo(longer).ok());
  });
}

// 6. No batch has another shape than the plan states.

TEST(BoundedShapesTest, ShapesAreTheStatedOnes) {
  ForEachPlan([](const Scenario&, const World&, const Plan& plan) {
    std::map<Shape, std::uint64_t> left;
    for (const ShapeCount& count : plan.Summarize().shapes) left[count.shape] = count.batches;
    for (const PlannedBatch& batch : AllBatches(plan)) {
      ASSERT_TRUE(left.contains(batch.padded));
      if (!batch.empty) --left[batch.padded];
    }
    for (const auto& [shape, batches] : left) EXPECT_EQ(batches, 0u);
  });
}

std::set<Shape> ShapesOf(const Plan& plan) {
  std::set<Shape> shapes;
  for (const ShapeCount& count : plan.Summarize().shapes) shapes.insert(count.shape);
  return shapes;
}

// Where drop_last leaves out another batch each epoch, the shape of a graph above the budget may be missing.
TEST(BoundedShapesTest, ABudgetConstantPadAndALadderGiveTheSameShapesEveryEpoch) {
  ForEachPlan([](const Scenario& scenario, const World& world, const Plan& plan) {
    const bool constant = scenario.spec.pad == Pad::kConstant;
    const bool ladder = scenario.spec.pad == Pad::kLadder;
    if (scenario.spec.policy == Policy::kStatic ? !constant && !ladder : scenario.spec.drop_last) return;
    if (!world.segments.empty()) return;  // of another epoch
    for (const std::uint64_t epoch : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40}) {
      Scenario other = scenario;
      other.epoch = epoch;
      EXPECT_EQ(ShapesOf(*Plan::Create(other.Request(world)).value()), ShapesOf(plan));
    }
    if (ladder) {
      EXPECT_LE(plan.Summarize().shapes.size(), *scenario.spec.rungs);
    } else if (constant || plan.Summarize().oversize == 0 || scenario.spec.oversize == Oversize::kSkip) {
      EXPECT_EQ(plan.Summarize().shapes.size(), 1u);
    }
  });
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
