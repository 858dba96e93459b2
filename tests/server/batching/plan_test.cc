#include "server/batching/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace packtrain::batching {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Sizes = std::vector<std::uint32_t>;

// A data set of graphs with these sizes; its split is all of it.
class PlanTest : public ::testing::Test {
 protected:
  void SetSizes(Sizes n_node, Sizes n_edge) {
    n_node_ = std::move(n_node);
    n_edge_ = std::move(n_edge);
    split_.resize(n_node_.size());
    std::iota(split_.begin(), split_.end(), 0u);
  }

  PlanRequest Request(const BatchSpec& spec, std::uint32_t world_size = 1) const {
    return {spec, {n_node_, n_edge_}, split_, 0, {world_size}, nullptr};
  }

  std::unique_ptr<const Plan> Create(const BatchSpec& spec, std::uint32_t world_size = 1) const {
    absl::StatusOr<std::unique_ptr<const Plan>> plan = Plan::Create(Request(spec, world_size));
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }

  void ExpectRefused(const PlanRequest& request, absl::StatusCode code, const std::string& message) const {
    const absl::Status status = Plan::Create(request).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
  void ExpectInvalid(const BatchSpec& spec, const std::string& message) const {
    ExpectRefused(Request(spec), absl::StatusCode::kInvalidArgument, message);
  }
  void ExpectImpossible(const BatchSpec& spec, const std::string& message) const {
    ExpectRefused(Request(spec), absl::StatusCode::kFailedPrecondition, message);
  }

  Sizes n_node_ = {3, 4, 5, 6, 7};
  Sizes n_edge_ = {30, 40, 50, 60, 70};
  Sizes split_ = {0, 1, 2, 3, 4};
};

BatchSpec Static(std::uint32_t graphs, std::optional<Pad> pad = std::nullopt) {
  return {.policy = Policy::kStatic, .pad = pad, .graphs = graphs, .order = Order::kNone};
}

BatchSpec Dynamic(std::uint32_t graphs, std::optional<std::uint32_t> nodes = std::nullopt,
                  std::optional<std::uint32_t> edges = std::nullopt) {
  return {.policy = Policy::kDynamic, .graphs = graphs, .nodes = nodes, .edges = edges, .order = Order::kNone};
}

std::vector<std::uint32_t> GraphsAt(const Plan& plan, std::uint64_t index) {
  const std::span<const std::uint32_t> graphs = plan.BatchAt(index)->graphs;
  return {graphs.begin(), graphs.end()};
}

// Static.

TEST_F(PlanTest, StaticTakesTheNextGraphsOfTheOrder) {
  const auto plan = Create(Static(2));
  EXPECT_EQ(plan->steps(), 3u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(2, 3));
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(4));
  EXPECT_EQ(plan->BatchAt(1)->real, (Shape{2, 11, 110}));
}

TEST_F(PlanTest, StaticPadsToMultiplesOf64ByDefault) {
  EXPECT_EQ(Create(Static(2))->BatchAt(1)->padded, (Shape{3, 64, 128}));
}

TEST_F(PlanTest, AMultipleKeepsOneNodeForPadding) {
  SetSizes({63, 64}, {64, 65});
  const auto plan = Create(Static(1, Pad::kMultiple));
  EXPECT_EQ(plan->BatchAt(0)->padded, (Shape{2, 64, 64}));
  EXPECT_EQ(plan->BatchAt(1)->padded, (Shape{2, 128, 128}));
}

TEST_F(PlanTest, Pow2TakesTheNextPowerWithOneNodeForPadding) {
  SetSizes({1, 3, 4, 1000}, {0, 2, 3, 1024});
  const auto plan = Create(Static(1, Pad::kPow2));
  EXPECT_EQ(plan->BatchAt(0)->padded, (Shape{2, 2, 2}));
  EXPECT_EQ(plan->BatchAt(1)->padded, (Shape{2, 4, 2}));
  EXPECT_EQ(plan->BatchAt(2)->padded, (Shape{2, 8, 4}));
  EXPECT_EQ(plan->BatchAt(3)->padded, (Shape{2, 1024, 1024}));
}

TEST_F(PlanTest, ConstantHoldsOneMoreOfTheLargestGraphOfTheWholeSplit) {
  const auto plan = Create(Static(2, Pad::kConstant));
  const Shape shape = {3, 65, 256};  // nextmult64(7 * 3) + 1 and nextmult64(70 * 3)
  for (std::uint64_t index = 0; index < 3; ++index) EXPECT_EQ(plan->BatchAt(index)->padded, shape);
}

BatchSpec Ladder(std::uint32_t graphs, std::uint32_t rungs) {
  BatchSpec spec = Static(graphs, Pad::kLadder);
  spec.rungs = rungs;
  return spec;
}

TEST_F(PlanTest, ALadderPadsToItsFirstRungThatHoldsTheBatch) {
  SetSizes({7, 8, 8, 15, 100}, {8, 8, 9, 16, 3});
  const auto plan = Create(Ladder(1, 5));
  EXPECT_EQ(plan->BatchAt(0)->padded, (Shape{2, 8, 8}));
  EXPECT_EQ(plan->BatchAt(1)->padded, (Shape{2, 16, 8}));  // one node is padding
  EXPECT_EQ(plan->BatchAt(2)->padded, (Shape{2, 16, 16}));
  EXPECT_EQ(plan->BatchAt(3)->padded, (Shape{2, 16, 16}));
  EXPECT_EQ(plan->BatchAt(4)->padded, (Shape{2, 104, 16}));
}

TEST_F(PlanTest, ALadderOfOneHoldsTheLargestGraphs) {
  SetSizes({1, 20, 3, 40, 5}, {50, 4, 30, 2, 1});
  const auto plan = Create(Ladder(2, 1));
  for (std::uint64_t index = 0; index < 3; ++index) EXPECT_EQ(plan->BatchAt(index)->padded, (Shape{3, 64, 80}));
}

TEST_F(PlanTest, ALadderStatesRungsThatNoBatchTakes) {
  SetSizes({1, 40, 1, 40}, {0, 0, 0, 0});
  const PlanSummary summary = Create(Ladder(2, 8))->Summarize();
  ASSERT_THAT(summary.shapes, SizeIs(2));
  EXPECT_EQ(summary.shapes[0].shape, (Shape{3, 48, 0}));
  EXPECT_EQ(summary.shapes[0].batches, 2u);
  EXPECT_EQ(summary.shapes[1].shape, (Shape{3, 88, 0}));
  EXPECT_EQ(summary.shapes[1].batches, 0u);
}

TEST_F(PlanTest, ALadderIsTheSameForEverySeedAndEpochOfAnOrder) {
  BatchSpec spec = Ladder(2, 3);
  for (const Order order : {Order::kFull, Order::kWindow}) {
    spec.order = order;
    if (order == Order::kWindow) spec.window = 2;
    std::set<Shape> shapes;
    for (spec.seed = 0; spec.seed < 4; ++spec.seed) {
      for (const ShapeCount& count : Create(spec)->Summarize().shapes) shapes.insert(count.shape);
    }
    EXPECT_THAT(shapes, SizeIs(3));
  }
}

TEST_F(PlanTest, NonePadsNothing) {
  const auto plan = Create(Static(2, Pad::kNone));
  EXPECT_EQ(plan->BatchAt(0)->padded, (Shape{2, 7, 70}));
  EXPECT_EQ(plan->BatchAt(2)->padded, (Shape{1, 7, 70}));
  EXPECT_THAT(plan->Summarize().fill_nodes, DoubleEq(1.0));
}

TEST_F(PlanTest, OnlyGraphsOfTheSplitArePlanned) {
  split_ = {1, 4};
  const auto plan = Create(Static(2, Pad::kConstant));
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(1, 4));
}

TEST_F(PlanTest, FullOrderDiffersByEpochAndSeed) {
  SetSizes(Sizes(100, 1), Sizes(100, 0));
  BatchSpec spec = Static(100);
  spec.order = Order::kFull;
  PlanRequest request = Request(spec);
  const auto first = Plan::Create(request).value();
  request.epoch = 1;
  const auto second = Plan::Create(request).value();
  request.epoch = 0;
  request.spec.seed = 1;
  const auto other = Plan::Create(request).value();
  EXPECT_NE(GraphsAt(*first, 0), GraphsAt(*second, 0));
  EXPECT_NE(GraphsAt(*first, 0), GraphsAt(*other, 0));
}

// Dynamic.

TEST_F(PlanTest, DynamicClosesABatchWhenTheNextGraphWouldBreakTheNodeBudget) {
  const auto plan = Create(Dynamic(10, 13, 1000));
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1, 2));  // 12 nodes: one slot is padding
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(3));
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(4));
  EXPECT_EQ(plan->BatchAt(0)->padded, (Shape{11, 13, 1000}));
}

TEST_F(PlanTest, DynamicClosesABatchWhenTheNextGraphWouldBreakTheEdgeBudget) {
  const auto plan = Create(Dynamic(10, 1000, 120));
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1, 2));  // 120 edges: all slots may be real
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(3));
}

TEST_F(PlanTest, DynamicHoldsAtMostMaxGraphs) {
  BatchSpec spec = Dynamic(2, 1000, 1000);
  EXPECT_EQ(Create(spec)->Summarize().max_graphs, 2u);
  spec.max_graphs = 3;
  const auto plan = Create(spec);
  EXPECT_EQ(plan->Summarize().max_graphs, 3u);
  EXPECT_EQ(plan->BatchAt(0)->padded.graphs, 4u);
}

TEST_F(PlanTest, TheBudgetIsThatOfOneGraphMoreThanAskedFor) {
  SetSizes({10, 20, 30}, {100, 200, 300});
  // nextmult64(60 * 33 div 3) and nextmult64(600 * 33 div 3).
  EXPECT_EQ(Create(Dynamic(32))->Summarize().budget, (Shape{32, 704, 6656}));
}

TEST_F(PlanTest, TheBudgetHoldsTheLargestGraph) {
  SetSizes({1, 1, 1, 128}, {0, 0, 0, 640});
  EXPECT_EQ(Create(Dynamic(1))->Summarize().budget, (Shape{1, 192, 704}));
}

TEST_F(PlanTest, AGivenLimitLeavesTheOtherOneToTheSizes) {
  EXPECT_EQ(Create(Dynamic(4, 100))->Summarize().budget, (Shape{4, 100, 256}));
  EXPECT_EQ(Create(Dynamic(4, std::nullopt, 200))->Summarize().budget, (Shape{4, 64, 200}));
}

TEST_F(PlanTest, BudgetSampleTakesTheFirstGraphsOfTheUnshuffledSplit) {
  SetSizes({10, 10, 500}, {10, 10, 500});
  split_ = {1, 2};
  BatchSpec spec = Dynamic(1);
  spec.order = Order::kFull;
  spec.budget_sample = 1;
  spec.oversize = Oversize::kAlone;
  EXPECT_EQ(Create(spec)->Summarize().budget, (Shape{1, 64, 64}));
  spec.budget_sample = 1000;
  EXPECT_EQ(Create(spec)->Summarize().budget, (Shape{1, 512, 512}));
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
  BatchSpec spec = Dynamic(2, 10, 100);
  spec.oversize = Oversize::kAlone;
  const auto plan = Create(spec);
  EXPECT_EQ(plan->steps(), 4u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 2));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(1));
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(3));
  EXPECT_THAT(GraphsAt(*plan, 3), ElementsAre(4));
  EXPECT_TRUE(plan->BatchAt(1)->oversize);
  EXPECT_EQ(plan->BatchAt(1)->padded, (Shape{2, 64, 64}));
  EXPECT_FALSE(plan->BatchAt(2)->oversize);
  EXPECT_EQ(plan->BatchAt(3)->padded, (Shape{2, 64, 256}));
  EXPECT_EQ(plan->Summarize().oversize, 2u);
  EXPECT_THAT(plan->Summarize().oversize_graphs, ElementsAre(1, 4));
}

TEST_F(PlanTest, OversizeSkipLeavesThemOutAndCounts) {
  SetSizes({2, 50, 2}, {1, 1, 1});
  BatchSpec spec = Dynamic(2, 10, 100);
  spec.oversize = Oversize::kSkip;
  const auto plan = Create(spec);
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 2));
  EXPECT_EQ(plan->Summarize().oversize, 1u);
  EXPECT_EQ(plan->Summarize().graphs, 2u);
}

TEST_F(PlanTest, OversizeSkipIsRefusedWhereNothingIsLeft) {
  BatchSpec spec = Dynamic(2, 2, 100);
  spec.oversize = Oversize::kSkip;
  ExpectImpossible(spec, "--oversize skip would leave no graph");
}

TEST_F(PlanTest, TheFirstThousandOversizeGraphsAreListed) {
  SetSizes(Sizes(1500, 5), Sizes(1500, 5));
  BatchSpec spec = Dynamic(2, 2, 100);
  spec.oversize = Oversize::kAlone;
  const PlanSummary summary = Create(spec)->Summarize();
  EXPECT_EQ(summary.oversize, 1500u);
  EXPECT_THAT(summary.oversize_graphs, SizeIs(1000));
  EXPECT_EQ(summary.oversize_graphs.back(), 999u);
}

TEST_F(PlanTest, StaticKnowsNoOversizeGraph) {
  SetSizes({1, 1000000}, {0, 0});
  for (const Pad pad : {Pad::kNone, Pad::kMultiple, Pad::kPow2, Pad::kConstant}) {
    EXPECT_EQ(Create(Static(2, pad))->Summarize().oversize, 0u);
  }
}

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
  BatchSpec spec = Static(1);
  spec.drop_last = true;
  const auto plan = Create(spec, 3);
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_EQ(plan->Summarize().batches, 3u);
  EXPECT_EQ(plan->Summarize().graphs, 3u);
  EXPECT_EQ(plan->BatchAt(3).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(PlanTest, DropLastIsRefusedWhereNoStepIsLeft) {
  BatchSpec spec = Static(1);
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
  BatchSpec spec = Static(1);
  spec.drop_last = true;
  const auto alone = Create(spec);
  EXPECT_EQ(alone->DealtTo({.size = 2, .segments = {{2, 1}}}).value()->Summarize().batches, 4u);
  EXPECT_EQ(alone->DealtTo({.size = 2, .segments = {{3, 1}}}).value()->Summarize().batches, 5u);
  EXPECT_EQ(alone->DealtTo({.size = 9, .segments = {{3, 1}}}).value()->Summarize().batches, 3u);
  // No step of two ranks was left for the one batch that remains.
  EXPECT_EQ(alone->DealtTo({.size = 1, .segments = {{2, 3}}}).status().code(), absl::StatusCode::kOutOfRange);
}

// Balance.

BatchSpec Balanced(BatchSpec spec, std::optional<CostCoefficients> cost = std::nullopt) {
  spec.balance = Balance::kCost;
  spec.cost = cost;
  return spec;
}

TEST_F(PlanTest, BalancedStaticStepsAreSplitLongestFirst) {
  SetSizes({1, 9, 2, 8, 7, 3}, {0, 0, 0, 0, 0, 0});
  const auto plan = Create(Balanced(Static(2)), 2);
  // 9, then 8, 2 to the shorter, 1 to the other. Graphs of a batch keep the order of the epoch.
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(2, 3));
  EXPECT_EQ(plan->BatchAt(1)->real, (Shape{2, 10, 0}));
  // A last step that none of the ranks could fill is spread over both.
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(4));
  EXPECT_THAT(GraphsAt(*plan, 3), ElementsAre(5));
  EXPECT_EQ(plan->Summarize().batches, 4u);
  EXPECT_EQ(plan->Summarize().graphs, 6u);
}

TEST_F(PlanTest, BalancedStaticStepsPadTheBatchesThatTheyHave) {
  SetSizes({10, 60, 10, 10}, {0, 0, 0, 0});
  EXPECT_EQ(Create(Static(2), 2)->BatchAt(0)->padded, (Shape{3, 128, 0}));
  SetSizes({60, 60, 1, 1}, {0, 0, 0, 0});
  EXPECT_EQ(Create(Static(2), 2)->BatchAt(0)->padded, (Shape{3, 128, 0}));
  EXPECT_EQ(Create(Balanced(Static(2)), 2)->BatchAt(0)->padded, (Shape{3, 64, 0}));
  EXPECT_EQ(Create(Balanced(Static(2, Pad::kNone)), 2)->BatchAt(0)->padded, (Shape{2, 61, 0}));
}

TEST_F(PlanTest, ABalancedLastStepWithFewerGraphsThanRanksIsFilledUp) {
  const auto plan = Create(Balanced(Static(1)), 3);
  EXPECT_EQ(plan->steps(), 2u);
  EXPECT_EQ(plan->Summarize().batches, 5u);
  EXPECT_TRUE(plan->BatchAt(5)->empty);
  EXPECT_EQ(plan->BatchAt(5)->padded, plan->BatchAt(3)->padded);
}

TEST_F(PlanTest, DropLastDropsTheSameGraphsBalancedOrNot) {
  for (const Balance balance : {Balance::kNone, Balance::kCost}) {
    BatchSpec spec = Static(2);
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
  const auto batches = [&](CostCoefficients cost) {
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
  BatchSpec spec = Static(2);
  spec.cost = CostCoefficients{};
  ExpectInvalid(spec, "--cost decides nothing without --balance cost");
  ExpectInvalid(Balanced(Static(2), CostCoefficients{0, 0, 0}), "--cost 0,0,0 tells no graph from another");
  ExpectInvalid(Balanced(Static(2), CostCoefficients{0, 1'000'001, 1}),
                "--cost 1000001 is out of range: 0 to 1000000");
  EXPECT_TRUE(Plan::Create(Request(Balanced(Static(2), CostCoefficients{0, 1'000'000, 0}))).ok());
}

TEST_F(PlanTest, RankLoadIsTheMeanOverTheGreatestOfEachStep) {
  SetSizes({2, 4, 6, 6}, {0, 0, 0, 0});
  EXPECT_THAT(Create(Static(1), 2)->Summarize().rank_load_mean_over_max, DoubleEq((3.0 / 4 + 1) / 2));
  // An empty batch is a rank without load.
  SetSizes({4, 4, 4}, {0, 0, 0});
  EXPECT_THAT(Create(Static(1), 2)->Summarize().rank_load_mean_over_max, DoubleEq(0.75));
}

TEST_F(PlanTest, FillCountsRealOverPaddedSlots) {
  const PlanSummary summary = Create(Dynamic(5, 51, 500), 4)->Summarize();
  EXPECT_THAT(summary.fill_graphs, DoubleEq(5.0 / 6));
  EXPECT_THAT(summary.fill_nodes, DoubleEq(25.0 / 51));
  EXPECT_THAT(summary.fill_edges, DoubleEq(0.5));
}

TEST_F(PlanTest, ShapesComeMostFrequentFirst) {
  SetSizes({100, 5, 5, 200}, {1, 1, 1, 1});
  const std::vector<ShapeCount> shapes = Create(Static(1))->Summarize().shapes;
  ASSERT_THAT(shapes, SizeIs(3));
  EXPECT_EQ(shapes[0].shape, (Shape{2, 64, 64}));
  EXPECT_EQ(shapes[0].batches, 2u);
  EXPECT_EQ(shapes[1].shape, (Shape{2, 128, 64}));
  EXPECT_EQ(shapes[2].shape, (Shape{2, 256, 64}));
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

// Bad requests.

TEST_F(PlanTest, RefusesGraphCountsOutOfRange) {
  ExpectInvalid(Static(0), "--graphs 0 is out of range: 1 to 16777216");
  ExpectInvalid(Dynamic(16777217), "--graphs 16777217 is out of range");
  BatchSpec spec = Dynamic(1);
  spec.max_graphs = 0;
  ExpectInvalid(spec, "--max-graphs 0 is out of range");
}

TEST_F(PlanTest, StaticRefusesWhatItHasNoUseFor) {
  BatchSpec spec = Static(2);
  spec.nodes = 100;
  ExpectInvalid(spec, "--nodes does not go with --policy static");
  spec = Static(2);
  spec.edges = 100;
  ExpectInvalid(spec, "--edges does not go with --policy static");
  spec = Static(2);
  spec.budget_sample = 100;
  ExpectInvalid(spec, "--budget-sample does not go with --policy static");
  spec = Static(2);
  spec.max_graphs = 3;
  ExpectInvalid(spec, "--max-graphs does not go with --policy static");
  spec.max_graphs = 2;
  EXPECT_TRUE(Plan::Create(Request(spec)).ok());
}

TEST_F(PlanTest, DynamicRefusesWhatItHasNoUseFor) {
  BatchSpec spec = Dynamic(2);
  spec.pad = Pad::kNone;
  ExpectInvalid(spec, "--pad does not go with --policy dynamic");
  spec = Static(2, Pad::kLadder);
  ExpectInvalid(spec, "--pad ladder:K and its number K go together");
  spec.rungs = 0;
  ExpectInvalid(spec, "--pad ladder:0 is out of range: ladder:K takes K from 1 to 64");
  spec.rungs = 65;
  ExpectInvalid(spec, "--pad ladder:65 is out of range");
  spec.rungs = 64;
  spec.pad = Pad::kPow2;
  ExpectInvalid(spec, "--pad ladder:K and its number K go together");
  spec = Dynamic(2, 100, 100);
  spec.budget_sample = 3;
  ExpectInvalid(spec, "--budget-sample decides nothing where --nodes and --edges are given");
}

TEST_F(PlanTest, DynamicRefusesLimitsOutOfRange) {
  ExpectInvalid(Dynamic(2, 1), "--nodes 1 is out of range: 2 to 2147483647");
  ExpectInvalid(Dynamic(2, 0x80000000), "--nodes 2147483648 is out of range");
  ExpectInvalid(Dynamic(2, 10, 0), "--edges 0 is out of range: 1 to 2147483647");
  BatchSpec spec = Dynamic(2);
  spec.budget_sample = 0;
  ExpectInvalid(spec, "--budget-sample must be at least 1");
}

TEST_F(PlanTest, RefusesAWorldWithoutRanks) {
  ExpectRefused(Request(Static(1), 0), absl::StatusCode::kInvalidArgument, "--world-size must be at least 1");
}

TEST_F(PlanTest, RefusesSegmentsWithoutRanksOrSteps) {
  PlanRequest request = Request(Static(1));
  request.world.segments = {{1, 1}, {0, 1}};
  ExpectRefused(request, absl::StatusCode::kInvalidArgument, "segments[1] has 1 steps of 0 ranks");
  request.world.segments = {{1, 0}};
  ExpectRefused(request, absl::StatusCode::kInvalidArgument, "segments[0] has 0 steps of 1 ranks");
}

TEST_F(PlanTest, RefusesMoreThanAThousandAndTwentyFourSegments) {
  SetSizes(Sizes(2000, 1), Sizes(2000, 0));
  PlanRequest request = Request(Static(1));
  request.world.segments.resize(kMaxSegments);
  EXPECT_TRUE(Plan::Create(request).ok());
  request.world.segments.emplace_back();
  ExpectRefused(request, absl::StatusCode::kInvalidArgument, "there are 1025 segments; the most is 1024");
}

TEST_F(PlanTest, RefusesSegmentsOfMoreBatchesThanTheEpochHas) {
  PlanRequest request = Request(Static(1));
  request.world.segments = {{2, 1}, {2, 3}};
  ExpectRefused(request, absl::StatusCode::kOutOfRange,
                "segments[1] has 3 steps of 2 ranks, but of the epoch's 5 batches 3 are left there");
  request.world.segments = {{2, 3}, {1, 1}};
  ExpectRefused(request, absl::StatusCode::kOutOfRange, "0 are left there");
}

TEST_F(PlanTest, SegmentsThatOverflow64BitsAreOutOfRange) {
  PlanRequest request = Request(Static(1));
  for (const Segment& segment : {Segment{0xffffffff, ~std::uint64_t{0}}, Segment{2, std::uint64_t{1} << 63},
                                 Segment{1, ~std::uint64_t{0}}, Segment{0xffffffff, 2}}) {
    request.world.segments = {segment};
    ExpectRefused(request, absl::StatusCode::kOutOfRange, "segments[0]");
    request.world.segments = {{1, 1}, segment};
    ExpectRefused(request, absl::StatusCode::kOutOfRange, "segments[1]");
  }
  request.world = {.size = 0xffffffff, .segments = {{0xffffffff, 1}}};
  EXPECT_EQ(Plan::Create(request).value()->steps(), 1u);
}

TEST_F(PlanTest, RefusesAnEmptySplit) {
  split_.clear();
  ExpectInvalid(Static(1), "--split names a split without graphs");
}

TEST_F(PlanTest, RefusesASplitThatDoesNotAscend) {
  split_ = {0, 2, 2};
  ExpectInvalid(Static(1), "must ascend");
}

TEST_F(PlanTest, RefusesASplitOfUnknownGraphs) {
  split_ = {0, 5};
  ExpectInvalid(Static(1), "the split names graph 5; there are sizes of 5 graphs");
}

TEST_F(PlanTest, RefusesShapesThatInt32CannotNumber) {
  SetSizes({0x7fffff00, 1000, 1}, {1, 1, 1});
  ExpectImpossible(Static(2, Pad::kNone),
                   "--graphs 2 with --pad none can give a batch of 2147484392 node slots");
  ExpectImpossible(Static(2, Pad::kMultiple), "node slots; the most is 2147483647");
  ExpectImpossible(Static(1, Pad::kPow2), "2147483648 node slots");
  ExpectImpossible(Static(1, Pad::kConstant), "node slots");
  ExpectImpossible(Ladder(2, 8), "--graphs 2 with --pad ladder:8 can give a batch of 2147484400 node slots");
  ExpectImpossible(Dynamic(3), "the budget for --graphs 3 would be --nodes 28");
  EXPECT_TRUE(Plan::Create(Request(Static(1, Pad::kNone))).ok());
  SetSizes({1, 1}, {0x7fffffff, 1});
  ExpectImpossible(Static(2, Pad::kNone), "2147483648 edge slots");
  ExpectImpossible(Dynamic(2), "would be --edges");
}

TEST_F(PlanTest, TheShapeLimitCountsTheLargestGraphsAlone) {
  // Three times the largest would be too many; the three largest are not.
  SetSizes({0x70000000, 1, 1, 1}, {1, 1, 1, 1});
  EXPECT_TRUE(Plan::Create(Request(Static(3, Pad::kMultiple))).ok());
}

TEST_F(PlanTest, RefusesAGraphThatIsTooLargeEvenAlone) {
  SetSizes({1, 0x7fffffff}, {1, 1});
  BatchSpec spec = Dynamic(1, 100, 100);
  spec.oversize = Oversize::kAlone;
  ExpectImpossible(spec, "does not fit a batch of at most 2147483647 slots even with --oversize alone");
  spec.oversize = Oversize::kSkip;
  EXPECT_TRUE(Plan::Create(Request(spec)).ok());
}

}  // namespace
}  // namespace packtrain::batching
