// Who gets what: ranks, segments and balance, and what a plan says of itself.
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "server/batching/plan.h"
#include "tests/server/batching/plan_fixture.h"

namespace packtrain::batching {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Ranks.

TEST_F(PlanTest, BatchesAreDealtOutInTurnAndTheLastStepFilledUp) {
  const auto plan = Create(Static(1), 3);
  EXPECT_EQ(plan->steps(), 2u);
  EXPECT_EQ(plan->BatchAt(4)->step, 1u);
  EXPECT_EQ(plan->BatchAt(4)->rank, 1u);
  EXPECT_THAT(GraphsAt(*plan, 4), ElementsAre(4));
  const PlannedBatch empty = plan->BatchAt(5).value();
  EXPECT_TRUE(empty.empty);
  EXPECT_THAT(empty.graphs, IsEmpty());
  EXPECT_EQ(empty.padded, plan->BatchAt(3)->padded);
  EXPECT_EQ(plan->Summarize().batches, 5u);
}

TEST_F(PlanTest, DropLastLeavesOutTheBatchesOfAnIncompleteStep) {
  wire::BatchSpec spec = Static(1);
  spec.drop_last = true;
  const auto plan = Create(spec, 3);
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_EQ(plan->Summarize().batches, 3u);
  EXPECT_EQ(plan->Summarize().graphs, 3u);
  EXPECT_EQ(plan->Summarize().dropped_graphs, 2u);
  EXPECT_EQ(plan->BatchAt(3).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(PlanTest, DropLastIsRefusedWhereNoStepIsLeft) {
  wire::BatchSpec spec = Static(1);
  spec.drop_last = true;
  ExpectRefused(Request(spec, 6), absl::StatusCode::kFailedPrecondition,
                "--drop-last leaves no step: the epoch has 5 batches for 6 ranks");
}

TEST_F(PlanTest, ANewWorldGoesOnWithTheBatchesThatTheSegmentsLeft) {
  SetSizes(Sizes(9, 1), Sizes(9, 0));
  const auto plan = Create(Static(1))->DealtTo({.size = 3, .segments = {{2, 1}, {1, 2}}}).value();
  EXPECT_EQ(plan->steps(), 5u);  // 0 1 | 2 | 3 | 4 5 6 | 7 8 and an empty one
  EXPECT_EQ(plan->FirstOfStep(3), 4u);
  EXPECT_EQ(plan->FirstOfStep(5), 10u);
  const std::pair<std::uint64_t, std::uint32_t> places[] = {{0, 0}, {0, 1}, {1, 0}, {2, 0}, {3, 0},
                                                            {3, 1}, {3, 2}, {4, 0}, {4, 1}, {4, 2}};
  for (std::uint64_t index = 0; index < 10; ++index) {
    const PlannedBatch batch = plan->BatchAt(index).value();
    EXPECT_EQ(std::pair(batch.step, batch.rank), places[index]) << "batch " << index;
    EXPECT_EQ(batch.empty, index == 9) << "batch " << index;
  }
}

TEST_F(PlanTest, ASegmentMayEndTheEpoch) {
  const auto plan = Create(Static(1))->DealtTo({.size = 4, .segments = {{2, 3}}}).value();
  EXPECT_EQ(plan->steps(), 3u);
  EXPECT_TRUE(plan->BatchAt(5)->empty);
  EXPECT_EQ(plan->BatchAt(6).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(plan->Summarize().batches, 5u);
}

TEST_F(PlanTest, DropLastCountsFromTheLastSegment) {
  wire::BatchSpec spec = Static(1);
  spec.drop_last = true;
  const auto alone = Create(spec);
  EXPECT_EQ(alone->DealtTo({.size = 2, .segments = {{2, 1}}}).value()->Summarize().batches, 4u);
  EXPECT_EQ(alone->DealtTo({.size = 2, .segments = {{3, 1}}}).value()->Summarize().batches, 5u);
  EXPECT_EQ(alone->DealtTo({.size = 9, .segments = {{3, 1}}}).value()->Summarize().batches, 3u);
  // No step of two ranks was left for the one batch that remains.
  EXPECT_EQ(alone->DealtTo({.size = 1, .segments = {{2, 3}}}).status().code(), absl::StatusCode::kOutOfRange);
}

// Balance.

wire::BatchSpec Balanced(wire::BatchSpec spec, std::optional<wire::CostCoefficients> cost = std::nullopt) {
  spec.balance = wire::Balance::kCost;
  spec.cost = cost;
  return spec;
}

TEST_F(PlanTest, BalancedStaticStepsAreSplitLongestFirst) {
  SetSizes({1, 9, 2, 8, 7, 3}, {0, 0, 0, 0, 0, 0});
  const auto plan = Create(Balanced(Static(2)), 2);
  // 9, then 8, 2 to the shorter, 1 to the other. Graphs of a batch keep the order of the epoch.
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(2, 3));
  EXPECT_EQ(plan->BatchAt(1)->real, (wire::Shape{2, 10, 0}));
  // A last step that none of the ranks could fill is spread over both.
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(4));
  EXPECT_THAT(GraphsAt(*plan, 3), ElementsAre(5));
  EXPECT_EQ(plan->Summarize().batches, 4u);
  EXPECT_EQ(plan->Summarize().graphs, 6u);
}

TEST_F(PlanTest, BalancedStaticStepsPadTheBatchesThatTheyHave) {
  SetSizes({10, 60, 10, 10}, {0, 0, 0, 0});
  EXPECT_EQ(Create(Static(2), 2)->BatchAt(0)->padded, (wire::Shape{3, 128, 0}));
  SetSizes({60, 60, 1, 1}, {0, 0, 0, 0});
  EXPECT_EQ(Create(Static(2), 2)->BatchAt(0)->padded, (wire::Shape{3, 128, 0}));
  EXPECT_EQ(Create(Balanced(Static(2)), 2)->BatchAt(0)->padded, (wire::Shape{3, 64, 0}));
  EXPECT_EQ(Create(Balanced(Static(2, wire::Pad::kNone)), 2)->BatchAt(0)->padded, (wire::Shape{2, 61, 0}));
}

TEST_F(PlanTest, ABalancedLastStepWithFewerGraphsThanRanksIsFilledUp) {
  const auto plan = Create(Balanced(Static(1)), 3);
  EXPECT_EQ(plan->steps(), 2u);
  EXPECT_EQ(plan->Summarize().batches, 5u);
  EXPECT_TRUE(plan->BatchAt(5)->empty);
  EXPECT_EQ(plan->BatchAt(5)->padded, plan->BatchAt(3)->padded);
}

TEST_F(PlanTest, DropLastDropsTheSameGraphsBalancedOrNot) {
  for (const wire::Balance balance : {wire::Balance::kNone, wire::Balance::kCost}) {
    wire::BatchSpec spec = Static(2);
    spec.drop_last = true;
    spec.balance = balance;
    const auto plan = Create(spec, 2);
    EXPECT_EQ(plan->steps(), 1u);
    EXPECT_EQ(plan->Summarize().batches, 2u);
    EXPECT_EQ(plan->Summarize().graphs, 4u);
  }
}

TEST_F(PlanTest, CostWeighsGraphsNodesAndEdges) {
  SetSizes({1, 2, 3, 100}, {50, 40, 30, 0});
  const auto batches = [&](wire::CostCoefficients cost) {
    const auto plan = Create(Balanced(Static(2), cost), 2);
    return std::pair(GraphsAt(*plan, 0), GraphsAt(*plan, 1));
  };
  using Graphs = std::vector<std::uint32_t>;
  EXPECT_EQ(batches({0, 1, 0}), std::pair(Graphs({0, 3}), Graphs({1, 2})));
  EXPECT_EQ(batches({0, 0, 1}), std::pair(Graphs({0, 3}), Graphs({1, 2})));
  EXPECT_EQ(batches({0, 1, 1}), std::pair(Graphs({2, 3}), Graphs({0, 1})));
  EXPECT_EQ(batches({1, 0, 0}), std::pair(Graphs({0, 2}), Graphs({1, 3})));
}

TEST_F(PlanTest, BalancedBatchesWithABudgetStayWhole) {
  SetSizes({1, 9, 9, 2, 2, 1}, {0, 0, 0, 0, 0, 0});
  const auto plan = Create(Balanced(Dynamic(1, 10, 1)), 2);
  EXPECT_EQ(plan->steps(), 3u);
  for (std::uint64_t step = 0; step < 3; ++step) {
    EXPECT_EQ(plan->BatchAt(2 * step)->real, plan->BatchAt(2 * step + 1)->real);
  }
  EXPECT_THAT(plan->Summarize().rank_load_mean_over_max, DoubleEq(1));
}

TEST_F(PlanTest, OneRankHasNothingToBalance) {
  const auto plan = Create(Balanced(Dynamic(1)));
  for (std::uint32_t index = 0; index < 5; ++index) EXPECT_THAT(GraphsAt(*plan, index), ElementsAre(index));
  EXPECT_EQ(plan->memory_bytes(), Create(Dynamic(1))->memory_bytes());
  EXPECT_GT(plan->DealtTo({2}).value()->memory_bytes(), plan->memory_bytes());
}

TEST_F(PlanTest, CostIsCheckedBeforeAnythingElse) {
  wire::BatchSpec spec = Static(2);
  spec.cost = wire::CostCoefficients{};
  ExpectInvalid(spec, "--cost decides nothing without --balance cost");
  ExpectInvalid(Balanced(Static(2), wire::CostCoefficients{0, 0, 0}),
                "--cost 0,0,0 tells no graph from another");
  ExpectInvalid(Balanced(Static(2), wire::CostCoefficients{0, 1'000'001, 1}),
                "--cost 1000001 is out of range: 0 to 1000000");
  EXPECT_TRUE(Plan::Create(Request(Balanced(Static(2), wire::CostCoefficients{0, 1'000'000, 0}))).ok());
}

TEST_F(PlanTest, RankLoadIsTheMeanOverTheGreatestOfEachStep) {
  SetSizes({2, 4, 6, 6}, {0, 0, 0, 0});
  EXPECT_THAT(Create(Static(1), 2)->Summarize().rank_load_mean_over_max, DoubleEq((3.0 / 4 + 1) / 2));
  // An empty batch is a rank without load.
  SetSizes({4, 4, 4}, {0, 0, 0});
  EXPECT_THAT(Create(Static(1), 2)->Summarize().rank_load_mean_over_max, DoubleEq(0.75));
}

TEST_F(PlanTest, FillCountsRealOverPaddedSlots) {
  const wire::PlanSummary summary = Create(Dynamic(5, 51, 500), 4)->Summarize();
  EXPECT_THAT(summary.fill_graphs, DoubleEq(5.0 / 6));
  EXPECT_THAT(summary.fill_nodes, DoubleEq(25.0 / 51));
  EXPECT_THAT(summary.fill_edges, DoubleEq(0.5));
}

TEST_F(PlanTest, ShapesComeMostFrequentFirst) {
  SetSizes({100, 5, 5, 200}, {1, 1, 1, 1});
  const std::vector<wire::ShapeCount> shapes = Create(Static(1))->Summarize().shapes;
  ASSERT_THAT(shapes, SizeIs(3));
  EXPECT_EQ(shapes[0].shape, (wire::Shape{2, 64, 64}));
  EXPECT_EQ(shapes[0].batches, 2u);
  EXPECT_EQ(shapes[1].shape, (wire::Shape{2, 128, 64}));
  EXPECT_EQ(shapes[2].shape, (wire::Shape{2, 256, 64}));
}

TEST_F(PlanTest, BatchesPastTheEndAreOutOfRange) {
  const absl::Status status = Create(Static(2))->BatchAt(3).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("batch 3 is past the epoch's end; it has 3 batches"));
}

TEST_F(PlanTest, MemoryIsAFewBytesAGraph) {
  SetSizes(Sizes(10000, 5), Sizes(10000, 5));
  EXPECT_LT(Create(Static(10))->memory_bytes(), 10000u * 4 + 2048 * 12 + 1000);
}

}  // namespace
}  // namespace packtrain::batching
