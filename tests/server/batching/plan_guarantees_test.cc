// The guarantees of a plan, one suite each, over drawn scenarios. Those of going on: world_size_change_test,
// and tests/server/batches/stream_property_test. A failure names the seed that drew the scenario.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "server/batching/policy_kind.h"
#include "server/batching/spec_rules.h"
#include "tests/server/batching/graphs_of.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

Indices Without(const Indices& values, const Indices& left_out) {
  Indices rest;
  std::ranges::set_difference(values, left_out, std::back_inserter(rest));
  return rest;
}

Indices Skipped(const Scenario& scenario, const Plan& plan) {
  return scenario.spec.oversize == wire::Oversize::kSkip ? plan.Summarize().oversize_graphs : Indices();
}

// 1. Over all ranks, one epoch delivers each graph of the split once, less counted skips.

TEST(ExactlyOnceTest, EachGraphOfTheSplitComesOnceAnEpoch) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    if (scenario.spec.drop_last) return;
    const Indices expected = Without(scenario.Slice(), Skipped(scenario, plan));
    EXPECT_EQ(Sorted(GraphsOf(AllBatches(plan))), expected);
    EXPECT_EQ(plan.Summarize().graphs, expected.size());
    EXPECT_EQ(plan.Summarize().dropped_graphs, 0u);
  });
}

TEST(ExactlyOnceTest, DropLastLeavesOutLessThanAStepAndRepeatsNothing) {
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
    if (!scenario.spec.drop_last) return;
    const PlanPtr one_rank = plan.DealtTo({}).value();
    const Indices all = Sorted(GraphsOf(AllBatches(*one_rank)));
    EXPECT_EQ(all, Without(scenario.Slice(), Skipped(scenario, plan)));
    const Indices delivered = Sorted(GraphsOf(AllBatches(plan)));
    EXPECT_TRUE(std::ranges::includes(all, delivered));
    EXPECT_EQ(std::ranges::adjacent_find(delivered), delivered.end());
    EXPECT_EQ(plan.Summarize().graphs, delivered.size());
    EXPECT_EQ(plan.Summarize().dropped_graphs, all.size() - delivered.size());
    EXPECT_LT(one_rank->Summarize().batches - plan.Summarize().batches, world.size);
  });
}

TEST(ExactlyOnceTest, WhatASliceLeavesOutIsCounted) {
  std::uint64_t skipped_graphs = 0;
  ForEachPlan([&](const Scenario& scenario, const wire::World&, const Plan& plan) {
    EXPECT_EQ(plan.Summarize().skipped_graphs, scenario.split.size() - scenario.Slice().size());
    skipped_graphs += plan.Summarize().skipped_graphs;
  });
  EXPECT_GT(skipped_graphs, 0u);
}

// The training's budget cuts another split, in order, and all of it; what is above it comes alone.
TEST(ExactlyOnceTest, EvaluationDeliversEachGraphOnceToo) {
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
    Scenario evaluation = scenario;
    evaluation.split.resize(scenario.n_node.size());
    std::iota(evaluation.split.begin(), evaluation.split.end(), 0u);
    evaluation.spec.order = wire::Order::kNone;
    evaluation.spec.order_window = std::nullopt;
    evaluation.spec.drop_last = false;
    evaluation.spec.skip_above = std::nullopt;
    evaluation.spec.skip_above_limit = std::nullopt;
    const std::optional<wire::Shape> budget = plan.Summarize().budget;
    if (budget) {
      evaluation.spec.max_graphs = budget->graphs;
      evaluation.spec.oversize = wire::Oversize::kAlone;
    }
    if (budget && !scenario.has_blocks()) {
      evaluation.spec.nodes = budget->nodes;
      evaluation.spec.edges = budget->edges;
      evaluation.spec.budget_sample = std::nullopt;
    }
    const PlanPtr evaluated = Plan::Create(evaluation.Request({world.size})).value();
    EXPECT_EQ(Sorted(GraphsOf(AllBatches(*evaluated))), evaluation.split);
    std::optional<wire::Shape> its_budget = evaluated->Summarize().budget;
    if (its_budget && scenario.has_blocks()) its_budget->edges = budget->edges;  // of another epoch
    EXPECT_EQ(its_budget, budget);
  });
}

// 2. Every rank has the same number of steps.

TEST(EqualStepsTest, EveryRankHasOneBatchAtEveryStep) {
  ForEachPlan([](const Scenario&, const wire::World& world, const Plan& plan) {
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
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    const std::uint64_t batches = plan.Summarize().batches;
    for (const PlannedBatch& batch : AllBatches(plan)) {
      EXPECT_EQ(batch.empty, batch.index >= batches);
      EXPECT_EQ(batch.empty, batch.graphs.empty());
      if (!batch.empty) continue;
      EXPECT_FALSE(scenario.spec.drop_last);
      EXPECT_EQ(batch.step, plan.steps() - 1);
      EXPECT_EQ(batch.real, wire::Shape{});
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
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
    const auto elsewhere = std::make_unique<Scenario>(scenario);
    ExpectEqualPlans(*Plan::Create(elsewhere->Request(world)).value(), plan);
  });
}

TEST(PurityTest, ASliceIsPlannedAsASplitOfItsOwn) {
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
    if (!scenario.spec.skip_above) return;
    Scenario own = scenario;
    own.split = scenario.Slice();
    own.spec.skip_above = std::nullopt;
    own.spec.skip_above_limit = std::nullopt;
    EXPECT_NE(CanonicalText(own.spec), CanonicalText(scenario.spec));
    const PlanPtr whole = Plan::Create(own.Request(world)).value();
    ExpectEqualPlans(*whole, plan);
    EXPECT_EQ(whole->Summarize().budget, plan.Summarize().budget);
    EXPECT_EQ(whole->Summarize().oversize_graphs, plan.Summarize().oversize_graphs);
  });
}

TEST(PurityTest, ADealtPlanIsTheOneMadeForItsWorld) {
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
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
wire::BatchSpec SpeltOut(wire::BatchSpec spec) {
  if (!spec.max_graphs) spec.max_graphs = MaxGraphs(spec);
  if (spec.policy == wire::Policy::kPacked && !spec.lookahead) spec.lookahead = 64;
  if (spec.balance == wire::Balance::kCost && !spec.cost) spec.cost = {0, 1, 1};
  if (spec.policy == wire::Policy::kSupergraph) spec.graphs += 17;
  if (spec.policy != wire::Policy::kStatic) {
    if (spec.order == wire::Order::kNone && spec.balance == wire::Balance::kNone) spec.seed += 17;
    return spec;
  }
  if (spec.order == wire::Order::kNone) spec.seed += 17;
  if (!spec.pad) spec.pad = wire::Pad::kMultiple;
  return spec;
}

TEST(PurityTest, EqualCanonicalTextsMeanEqualPlans) {
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
    Scenario spelt = scenario;
    spelt.spec = SpeltOut(scenario.spec);
    EXPECT_EQ(CanonicalText(spelt.spec), CanonicalText(scenario.spec));
    ExpectEqualPlans(*Plan::Create(spelt.Request(world)).value(), plan);
  });
}

TEST(PurityTest, OtherPlansHaveOtherCanonicalTexts) {
  std::map<std::string, wire::BatchSpec> texts;
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

// 6. No batch has another shape than the plan states.

TEST(BoundedShapesTest, ShapesAreTheStatedOnes) {
  ForEachPlan([](const Scenario&, const wire::World&, const Plan& plan) {
    std::map<wire::Shape, std::uint64_t> left;
    for (const wire::ShapeCount& count : plan.Summarize().shapes) left[count.shape] = count.batches;
    for (const PlannedBatch& batch : AllBatches(plan)) {
      ASSERT_TRUE(left.contains(batch.padded));
      if (!batch.empty) --left[batch.padded];
    }
    for (const auto& [shape, batches] : left) EXPECT_EQ(batches, 0u);
  });
}

std::set<wire::Shape> ShapesOf(const Plan& plan) {
  std::set<wire::Shape> shapes;
  for (const wire::ShapeCount& count : plan.Summarize().shapes) shapes.insert(count.shape);
  return shapes;
}

// Where drop_last leaves out another batch each epoch, the shape of a graph above the budget may be missing.
TEST(BoundedShapesTest, ABudgetConstantPadAndALadderGiveTheSameShapesEveryEpoch) {
  ForEachPlan([](const Scenario& scenario, const wire::World& world, const Plan& plan) {
    const bool constant = scenario.spec.pad == wire::Pad::kConstant;
    const bool ladder = scenario.spec.pad == wire::Pad::kLadder;
    if (scenario.spec.policy == wire::Policy::kStatic ? !constant && !ladder : scenario.spec.drop_last) return;
    if (!world.segments.empty()) return;  // of another epoch
    if (scenario.has_blocks()) return;    // below
    for (const std::uint64_t epoch : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40}) {
      Scenario other = scenario;
      other.epoch = epoch;
      EXPECT_EQ(ShapesOf(*Plan::Create(other.Request(world)).value()), ShapesOf(plan));
    }
    if (ladder) {
      EXPECT_LE(plan.Summarize().shapes.size(), *scenario.spec.ladder_rungs);
    } else if (constant || plan.Summarize().oversize == 0 || scenario.spec.oversize == wire::Oversize::kSkip) {
      EXPECT_EQ(plan.Summarize().shapes.size(), 1u);
    }
  });
}

// An epoch has one, which differs from that of other epochs in its edge slots alone.
TEST(BoundedShapesTest, ASupergraphHasTheEdgeSlotsOfTheGreatestOfItsEpoch) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    if (!scenario.has_blocks()) return;
    const wire::BatchSpec& spec = scenario.spec;
    std::uint32_t max_edges = 0;  // also of what drop_last leaves out
    const PlanPtr one_rank = plan.DealtTo({}).value();
    for (const PlannedBatch& batch : AllBatches(*one_rank)) {
      if (!batch.oversize) max_edges = std::max(max_edges, batch.real.edges);
    }
    const std::uint32_t nodes = *spec.blocks * *spec.block_nodes;
    const wire::Shape budget = {spec.max_graphs.value_or(nodes), nodes, max_edges, *spec.block_nodes};
    EXPECT_EQ(plan.Summarize().budget, budget);
    for (const PlannedBatch& batch : AllBatches(plan)) {
      if (batch.oversize || batch.empty) continue;
      EXPECT_EQ(batch.padded, (wire::Shape{budget.graphs + 1, nodes, max_edges, *spec.block_nodes}));
    }
  });
}

}  // namespace
}  // namespace packtrain::batching
