// Plans under a budget, and the graphs above it.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "tests/server/batching/plan_fixture.h"

namespace packtrain::batching {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Dynamic.

TEST_F(PlanTest, DynamicClosesABatchWhenTheNextGraphWouldBreakTheNodeBudget) {
  const auto plan = Create(Dynamic(10, 13, 1000));
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1, 2));  // 12 nodes: one slot is padding
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(3));
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(4));
  EXPECT_EQ(plan->BatchAt(0)->padded, (wire::Shape{11, 13, 1000}));
}

TEST_F(PlanTest, DynamicClosesABatchWhenTheNextGraphWouldBreakTheEdgeBudget) {
  const auto plan = Create(Dynamic(10, 1000, 120));
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1, 2));  // 120 edges: all slots may be real
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(3));
}

TEST_F(PlanTest, DynamicHoldsAtMostMaxGraphs) {
  wire::BatchSpec spec = Dynamic(2, 1000, 1000);
  EXPECT_EQ(Create(spec)->Summarize().max_graphs, 2u);
  spec.max_graphs = 3;
  const auto plan = Create(spec);
  EXPECT_EQ(plan->Summarize().max_graphs, 3u);
  EXPECT_EQ(plan->BatchAt(0)->padded.graphs, 4u);
}

TEST_F(PlanTest, TheBudgetIsThatOfOneGraphMoreThanAskedFor) {
  SetSizes({10, 20, 30}, {100, 200, 300});
  // nextmult64(60 * 33 div 3) and nextmult64(600 * 33 div 3).
  EXPECT_EQ(Create(Dynamic(32))->Summarize().budget, (wire::Shape{32, 704, 6656}));
}

TEST_F(PlanTest, TheBudgetHoldsTheLargestGraph) {
  SetSizes({1, 1, 1, 128}, {0, 0, 0, 640});
  EXPECT_EQ(Create(Dynamic(1))->Summarize().budget, (wire::Shape{1, 192, 704}));
}

TEST_F(PlanTest, AGivenLimitLeavesTheOtherOneToTheSizes) {
  EXPECT_EQ(Create(Dynamic(4, 100))->Summarize().budget, (wire::Shape{4, 100, 256}));
  EXPECT_EQ(Create(Dynamic(4, std::nullopt, 200))->Summarize().budget, (wire::Shape{4, 64, 200}));
}

TEST_F(PlanTest, BudgetSampleTakesTheFirstGraphsOfTheUnshuffledSplit) {
  SetSizes({10, 10, 500}, {10, 10, 500});
  split_ = {1, 2};
  wire::BatchSpec spec = Dynamic(1);
  spec.order = wire::Order::kFull;
  spec.budget_sample = 1;
  spec.oversize = wire::Oversize::kAlone;
  EXPECT_EQ(Create(spec)->Summarize().budget, (wire::Shape{1, 64, 64}));
  spec.budget_sample = 1000;
  EXPECT_EQ(Create(spec)->Summarize().budget, (wire::Shape{1, 512, 512}));
}

// Oversize.

TEST_F(PlanTest, OversizeErrorSaysHowManyTheLargestAndWhatWouldHoldThem) {
  PlanRequest request = Request(Dynamic(10, 6, 1000));
  ExpectRefused(request, absl::StatusCode::kFailedPrecondition,
                "graphs above the budget of --nodes 6 (one of them padding) and --edges 1000: 2 of 5");
  ExpectRefused(request, absl::StatusCode::kFailedPrecondition,
                "the largest is graph 4 with 7 nodes and 70 edges");
  ExpectRefused(request, absl::StatusCode::kFailedPrecondition, "--nodes 8 --edges 70 would hold every graph");
  request.graph_name = [](std::uint32_t graph) { return absl::StrCat("mol_", graph); };
  ExpectRefused(request, absl::StatusCode::kFailedPrecondition, "the largest is mol_4 with");
}

TEST_F(PlanTest, OversizeErrorNamesTheFirstOfEquallyLargeGraphs) {
  SetSizes({1, 9, 8, 9}, {1, 8, 9, 8});
  ExpectImpossible(Dynamic(10, 6, 1000), "3 of 4; the largest is graph 1 with 9 nodes and 8 edges");
}

TEST_F(PlanTest, OversizeErrorPassesWhereTheNamedBudgetIsTaken) {
  EXPECT_EQ(Create(Dynamic(10, 8, 70))->Summarize().oversize, 0u);
}

TEST_F(PlanTest, OversizeAloneFollowsTheOpenBatch) {
  SetSizes({2, 50, 2, 2, 60}, {1, 1, 1, 1, 200});
  wire::BatchSpec spec = Dynamic(2, 10, 100);
  spec.oversize = wire::Oversize::kAlone;
  const auto plan = Create(spec);
  EXPECT_EQ(plan->steps(), 4u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 2));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(1));
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(3));
  EXPECT_THAT(GraphsAt(*plan, 3), ElementsAre(4));
  EXPECT_TRUE(plan->BatchAt(1)->oversize);
  EXPECT_EQ(plan->BatchAt(1)->padded, (wire::Shape{2, 64, 64}));
  EXPECT_FALSE(plan->BatchAt(2)->oversize);
  EXPECT_EQ(plan->BatchAt(3)->padded, (wire::Shape{2, 64, 256}));
  EXPECT_EQ(plan->Summarize().oversize, 2u);
  EXPECT_THAT(plan->Summarize().oversize_graphs, ElementsAre(1, 4));
}

TEST_F(PlanTest, OversizeSkipLeavesThemOutAndCounts) {
  SetSizes({2, 50, 2}, {1, 1, 1});
  wire::BatchSpec spec = Dynamic(2, 10, 100);
  spec.oversize = wire::Oversize::kSkip;
  const auto plan = Create(spec);
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 2));
  EXPECT_EQ(plan->Summarize().oversize, 1u);
  EXPECT_EQ(plan->Summarize().graphs, 2u);
}

TEST_F(PlanTest, OversizeSkipIsRefusedWhereNothingIsLeft) {
  wire::BatchSpec spec = Dynamic(2, 2, 100);
  spec.oversize = wire::Oversize::kSkip;
  ExpectImpossible(spec, "--oversize skip would leave no graph");
}

TEST_F(PlanTest, TheFirstThousandOversizeGraphsAreListed) {
  SetSizes(Sizes(1500, 5), Sizes(1500, 5));
  wire::BatchSpec spec = Dynamic(2, 2, 100);
  spec.oversize = wire::Oversize::kAlone;
  const wire::PlanSummary summary = Create(spec)->Summarize();
  EXPECT_EQ(summary.oversize, 1500u);
  EXPECT_THAT(summary.oversize_graphs, SizeIs(1000));
  EXPECT_EQ(summary.oversize_graphs.back(), 999u);
}

TEST_F(PlanTest, StaticKnowsNoOversizeGraph) {
  SetSizes({1, 1000000}, {0, 0});
  for (const wire::Pad pad : {wire::Pad::kNone, wire::Pad::kMultiple, wire::Pad::kPow2, wire::Pad::kConstant}) {
    EXPECT_EQ(Create(Static(2, pad))->Summarize().oversize, 0u);
  }
}

}  // namespace
}  // namespace packtrain::batching
