// What holds for every plan, over drawn data sets and specs and over 1, 2, 3 and 8 ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

using Indices = std::vector<std::uint32_t>;
using PlanPtr = std::unique_ptr<const Plan>;

constexpr std::uint64_t kScenarios = 1500;
constexpr std::uint32_t kWorldSizes[] = {1, 2, 3, 8};

std::vector<PlannedBatch> AllBatches(const Plan& plan, std::uint32_t world_size) {
  std::vector<PlannedBatch> batches;
  for (std::uint64_t index = 0; index < plan.steps() * world_size; ++index) {
    batches.push_back(plan.BatchAt(index).value());
  }
  return batches;
}

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

// Calls `check(scenario, world size, plan)` for every drawn scenario that can be planned.
using Check = std::function<void(const Scenario&, std::uint32_t, const Plan&)>;
void ForEachPlan(const Check& check) {
  int planned = 0;
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    for (const std::uint32_t world_size : kWorldSizes) {
      SCOPED_TRACE(absl::StrCat("scenario ", seed, ", world size ", world_size));
      const absl::StatusOr<PlanPtr> plan = Plan::Create(scenario.Request(world_size));
      if (!plan.ok()) continue;
      check(scenario, world_size, **plan);
      if (::testing::Test::HasFailure()) return;
      ++planned;
    }
  }
  EXPECT_GT(planned, kScenarios * 2);
}

bool Equal(const PlannedBatch& a, const PlannedBatch& b) {
  return a.index == b.index && a.step == b.step && a.rank == b.rank && std::ranges::equal(a.graphs, b.graphs) &&
         a.real == b.real && a.padded == b.padded && a.empty == b.empty && a.oversize == b.oversize;
}

TEST(PlanPropertyTest, EachGraphOfTheSplitComesExactlyOnce) {
  ForEachPlan([](const Scenario& scenario, std::uint32_t world_size, const Plan& plan) {
    if (scenario.spec.drop_last) return;
    Indices expected = scenario.split;
    if (scenario.spec.oversize == Oversize::kSkip) {
      const Indices skipped = plan.Summarize().oversize_graphs;
      Indices left;
      std::ranges::set_difference(expected, skipped, std::back_inserter(left));
      expected = left;
    }
    EXPECT_EQ(Sorted(GraphsOf(AllBatches(plan, world_size))), expected);
    EXPECT_EQ(plan.Summarize().graphs, expected.size());
  });
}

TEST(PlanPropertyTest, EveryRankHasOneBatchAtEveryStep) {
  ForEachPlan([](const Scenario&, std::uint32_t world_size, const Plan& plan) {
    for (const PlannedBatch& batch : AllBatches(plan, world_size)) {
      EXPECT_EQ(batch.step * world_size + batch.rank, batch.index);
      EXPECT_LT(batch.rank, world_size);
      EXPECT_LT(batch.step, plan.steps());
    }
    EXPECT_EQ(plan.BatchAt(plan.steps() * world_size).status().code(), absl::StatusCode::kOutOfRange);
  });
}

TEST(PlanPropertyTest, EmptyBatchesOnlyFillUpTheLastStep) {
  ForEachPlan([](const Scenario& scenario, std::uint32_t world_size, const Plan& plan) {
    const std::uint64_t batches = plan.Summarize().batches;
    for (const PlannedBatch& batch : AllBatches(plan, world_size)) {
      EXPECT_EQ(batch.empty, batch.index >= batches);
      EXPECT_EQ(batch.empty, batch.graphs.empty());
      if (!batch.empty) continue;
      EXPECT_FALSE(scenario.spec.drop_last);
      EXPECT_EQ(batch.step, plan.steps() - 1);
      EXPECT_EQ(batch.real, Shape{});
      EXPECT_EQ(batch.padded, plan.BatchAt(batch.step * world_size)->padded);
    }
  });
}

TEST(PlanPropertyTest, ShapesAreTheStatedOnes) {
  ForEachPlan([](const Scenario&, std::uint32_t world_size, const Plan& plan) {
    std::map<Shape, std::uint64_t> left;
    for (const ShapeCount& count : plan.Summarize().shapes) left[count.shape] = count.batches;
    for (const PlannedBatch& batch : AllBatches(plan, world_size)) {
      ASSERT_TRUE(left.contains(batch.padded));
      if (!batch.empty) --left[batch.padded];
    }
    for (const auto& [shape, batches] : left) EXPECT_EQ(batches, 0u);
  });
}

TEST(PlanPropertyTest, RealCountsAreThoseOfTheGraphs) {
  ForEachPlan([](const Scenario& scenario, std::uint32_t world_size, const Plan& plan) {
    for (const PlannedBatch& batch : AllBatches(plan, world_size)) {
      Shape sum;
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
  ForEachPlan([](const Scenario& scenario, std::uint32_t world_size, const Plan& plan) {
    for (const PlannedBatch& batch : AllBatches(plan, world_size)) {
      if (batch.empty) continue;
      if (scenario.spec.pad == Pad::kNone) {
        EXPECT_EQ(batch.padded, batch.real);
        continue;
      }
      EXPECT_GT(batch.padded.graphs, batch.real.graphs);
      EXPECT_GT(batch.padded.nodes, batch.real.nodes);
      EXPECT_GE(batch.padded.edges, batch.real.edges);
    }
  });
}

TEST(PlanPropertyTest, DynamicBatchesKeepTheBudgetAndCloseOnlyWhenTheyMust) {
  ForEachPlan([](const Scenario& scenario, std::uint32_t world_size, const Plan& plan) {
    const std::optional<Shape> budget = plan.Summarize().budget;
    EXPECT_EQ(budget.has_value(), scenario.spec.policy == Policy::kDynamic);
    if (!budget) return;
    const auto fits = [&](const Shape& real) {
      return real.graphs <= budget->graphs && real.nodes < budget->nodes && real.edges <= budget->edges;
    };
    std::optional<Shape> before;
    for (const PlannedBatch& batch : AllBatches(plan, world_size)) {
      if (batch.empty) continue;
      EXPECT_EQ(batch.oversize, !fits(batch.real));
      if (batch.oversize) {
        EXPECT_EQ(batch.graphs.size(), 1u);
        continue;
      }
      if (before) {
        const std::uint32_t first = batch.graphs.front();
        EXPECT_FALSE(fits({before->graphs + 1, before->nodes + scenario.n_node[first],
                           before->edges + scenario.n_edge[first]}));
      }
      before = batch.real;
    }
  });
}

TEST(PlanPropertyTest, StaticBatchesHoldTheGivenNumberOfGraphs) {
  ForEachPlan([](const Scenario& scenario, std::uint32_t, const Plan& plan) {
    if (scenario.spec.policy != Policy::kStatic) return;
    const PlanSummary summary = plan.Summarize();
    for (std::uint64_t index = 0; index + 1 < summary.batches; ++index) {
      EXPECT_EQ(plan.BatchAt(index)->real.graphs, scenario.spec.graphs);
    }
    EXPECT_LE(summary.max_graphs, scenario.spec.graphs);
    EXPECT_EQ(summary.oversize, 0u);
  });
}

TEST(PlanPropertyTest, EqualRequestsGiveEqualPlansFromAnyStart) {
  ForEachPlan([](const Scenario& scenario, std::uint32_t world_size, const Plan& plan) {
    const PlanPtr again = Plan::Create(scenario.Request(world_size)).value();
    ASSERT_EQ(again->steps(), plan.steps());
    const std::vector<PlannedBatch> unbroken = AllBatches(plan, world_size);
    for (std::uint64_t start = unbroken.size(); start-- > 0;) {
      EXPECT_TRUE(Equal(*again->BatchAt(start), unbroken[start])) << "batch " << start;
    }
  });
}

TEST(PlanPropertyTest, TheWorldSizeOnlyDealsTheSameBatchesOut) {
  ForEachPlan([](const Scenario& scenario, std::uint32_t world_size, const Plan& plan) {
    const PlanPtr alone = Plan::Create(scenario.Request(1)).value();
    const std::uint64_t batches = plan.Summarize().batches;
    EXPECT_GT(batches + world_size, alone->steps());
    EXPECT_TRUE(scenario.spec.drop_last || batches == alone->steps());
    for (std::uint64_t index = 0; index < batches; ++index) {
      EXPECT_TRUE(std::ranges::equal(plan.BatchAt(index)->graphs, alone->BatchAt(index)->graphs));
    }
  });
}

TEST(PlanPropertyTest, TheSummaryAddsUp) {
  ForEachPlan([](const Scenario&, std::uint32_t world_size, const Plan& plan) {
    const PlanSummary summary = plan.Summarize();
    EXPECT_EQ(summary.steps, plan.steps());
    EXPECT_LE(summary.bound_batches, summary.batches);
    EXPECT_GE(summary.bound_batches, 1u);
    EXPECT_LE(summary.min_graphs, summary.mean_graphs);
    EXPECT_LE(summary.mean_graphs, summary.max_graphs);
    for (const double fill : {summary.fill_graphs, summary.fill_nodes, summary.fill_edges}) {
      EXPECT_GE(fill, 0.0);
      EXPECT_LE(fill, 1.0);
    }
    EXPECT_GE(summary.rank_load_mean_over_max, 1.0 / world_size);
    EXPECT_LE(summary.rank_load_mean_over_max, 1.0);
    EXPECT_TRUE(std::ranges::is_sorted(summary.shapes, std::greater_equal<>(), &ShapeCount::batches) ||
                std::ranges::is_sorted(summary.shapes, std::greater<>(), &ShapeCount::batches));
  });
}

// A refused plan is one that oversize graphs or drop_last leave no way to make.
TEST(PlanPropertyTest, PlansAreRefusedForAReason) {
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    for (const std::uint32_t world_size : kWorldSizes) {
      SCOPED_TRACE(absl::StrCat("scenario ", seed, ", world size ", world_size));
      const absl::Status status = Plan::Create(scenario.Request(world_size)).status();
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      Scenario lenient = scenario;
      lenient.spec.oversize = Oversize::kAlone;
      lenient.spec.drop_last = false;
      const PlanSummary summary = Plan::Create(lenient.Request(world_size)).value()->Summarize();
      const bool too_few = scenario.spec.drop_last && summary.batches - summary.oversize < world_size;
      EXPECT_TRUE(too_few || (summary.oversize > 0 && scenario.spec.oversize != Oversize::kAlone)) << status;
    }
  }
}

}  // namespace
}  // namespace packtrain::batching
