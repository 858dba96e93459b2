// What every plan keeps besides the guarantees (plan_guarantees_test.cc), over drawn scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "server/batching/plan.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

TEST(PlanPropertyTest, RealCountsAreThoseOfTheGraphs) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    for (const PlannedBatch& batch : AllBatches(plan)) {
      wire::Shape sum;
      for (const std::uint32_t graph : batch.graphs) {
        ++sum.graphs;
        sum.nodes += scenario.n_node[graph];
        sum.edges += scenario.n_edge[graph];
      }
      EXPECT_EQ(batch.real, sum);
    }
  });
}

TEST(PlanPropertyTest, PaddedShapesLeaveRoomForPadding) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    for (const PlannedBatch& batch : AllBatches(plan)) {
      if (batch.empty) continue;
      if (scenario.spec.pad == wire::Pad::kNone) {
        EXPECT_EQ(batch.padded, batch.real);
        continue;
      }
      EXPECT_GT(batch.padded.graphs, batch.real.graphs);
      EXPECT_GE(batch.padded.edges, batch.real.edges);
      if (scenario.has_blocks() && batch.oversize && batch.padded.nodes == batch.real.nodes) {
        EXPECT_EQ(batch.padded.edges, batch.real.edges);  // whole blocks
        continue;
      }
      EXPECT_GT(batch.padded.nodes, batch.real.nodes);
    }
  });
}

TEST(PlanPropertyTest, BudgetedBatchesKeepTheBudgetAndDynamicOnesCloseOnlyWhenTheyMust) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    const std::optional<wire::Shape> budget = plan.Summarize().budget;
    EXPECT_EQ(budget.has_value(), scenario.spec.policy != wire::Policy::kStatic);
    if (!budget) return;
    const auto fits = [&](const wire::Shape& real) {
      return real.graphs <= budget->graphs && real.nodes < budget->nodes && real.edges <= budget->edges;
    };
    std::optional<wire::Shape> before;
    const bool in_order = scenario.spec.policy == wire::Policy::kDynamic || scenario.has_blocks();
    for (const PlannedBatch& batch : AllBatches(plan)) {
      if (batch.empty) continue;
      for (const std::uint32_t graph : batch.graphs) EXPECT_EQ(batch.oversize, !scenario.Fits(graph, *budget));
      if (batch.oversize) {
        EXPECT_EQ(batch.graphs.size(), 1u);
        continue;
      }
      EXPECT_TRUE(fits(batch.real));
      if (before && in_order && scenario.spec.balance == wire::Balance::kNone) {
        const std::uint32_t first = batch.graphs.front();
        const std::uint32_t edges = scenario.has_blocks() ? 0 : before->edges + scenario.n_edge[first];
        EXPECT_FALSE(fits({before->graphs + 1, before->nodes + scenario.n_node[first], edges}));
      }
      before = batch.real;
    }
  });
}

// As far as blocks: edges that join nodes at most S apart join nodes of one block or of two neighbours.
TEST(PlanPropertyTest, NoGraphIsWiderThanTheBlocksOfItsBatch) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    for (const PlannedBatch& batch : AllBatches(plan)) {
      const std::uint32_t block_nodes = batch.padded.block_nodes;
      ASSERT_EQ(block_nodes > 0, scenario.has_blocks());
      if (block_nodes == 0) continue;
      EXPECT_EQ(batch.padded.nodes % block_nodes, 0u);
      for (const std::uint32_t graph : batch.graphs) EXPECT_LE(scenario.bandwidth[graph], block_nodes);
    }
  });
}

TEST(PlanPropertyTest, StaticBatchesHoldTheGivenNumberOfGraphs) {
  ForEachPlan([](const Scenario& scenario, const wire::World&, const Plan& plan) {
    if (scenario.spec.policy != wire::Policy::kStatic) return;
    const wire::PlanSummary summary = plan.Summarize();
    const bool balanced = scenario.spec.balance == wire::Balance::kCost;
    const std::uint64_t full = balanced ? plan.FirstOfStep(plan.steps() - 1) : summary.batches - 1;
    for (std::uint64_t index = 0; index < full; ++index) {
      EXPECT_EQ(plan.BatchAt(index)->real.graphs, scenario.spec.graphs);
    }
    EXPECT_LE(summary.max_graphs, scenario.spec.graphs);
    EXPECT_EQ(summary.oversize, 0u);
  });
}

TEST(PlanPropertyTest, TheSummaryAddsUp) {
  ForEachPlan([](const Scenario&, const wire::World& world, const Plan& plan) {
    const wire::PlanSummary summary = plan.Summarize();
    EXPECT_EQ(summary.steps, plan.steps());
    EXPECT_LE(summary.bound_batches, summary.batches);
    EXPECT_GE(summary.bound_batches, 1u);
    EXPECT_LE(summary.min_graphs, summary.mean_graphs);
    EXPECT_LE(summary.mean_graphs, summary.max_graphs);
    for (const double fill : {summary.fill_graphs, summary.fill_nodes, summary.fill_edges}) {
      EXPECT_GE(fill, 0.0);
      EXPECT_LE(fill, 1.0);
    }
    std::uint32_t most_ranks = world.size;
    for (const wire::Segment& segment : world.segments) most_ranks = std::max(most_ranks, segment.world_size);
    EXPECT_GE(summary.rank_load_mean_over_max, 1.0 / most_ranks);
    EXPECT_LE(summary.rank_load_mean_over_max, 1.0);
    EXPECT_TRUE(std::ranges::is_sorted(summary.shapes, std::greater<>(), &wire::ShapeCount::batches));
  });
}

// A refused plan is one that oversize graphs or drop_last leave no way to make.
TEST(PlanPropertyTest, PlansAreRefusedForAReason) {
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    for (const std::uint32_t world_size : {1u, 2u, 3u, 8u}) {
      SCOPED_TRACE(scenario.name + "; " + std::to_string(world_size) + " ranks");
      const absl::Status status = Plan::Create(scenario.Request({world_size})).status();
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      Scenario lenient = scenario;
      if (scenario.spec.policy != wire::Policy::kStatic) lenient.spec.oversize = wire::Oversize::kAlone;
      lenient.spec.drop_last = false;
      const wire::PlanSummary summary = Plan::Create(lenient.Request({})).value()->Summarize();
      const bool too_few = scenario.spec.drop_last && summary.batches - summary.oversize < world_size;
      EXPECT_TRUE(too_few || (summary.oversize > 0 && scenario.spec.oversize != wire::Oversize::kAlone))
          << status;
    }
  }
}

}  // namespace
}  // namespace packtrain::batching
