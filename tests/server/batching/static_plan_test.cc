// Plans of the static policy, and orders.
#include <gmock/gmock.h>

#include "server/batching/plan.h"
#include "tests/server/batching/plan_fixture.h"

namespace packtrain::batching {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST_F(PlanTest, StaticTakesTheNextGraphsOfTheOrder) {
  const auto plan = Create(Static(2));
  EXPECT_EQ(plan->steps(), 3u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(2, 3));
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(4));
  EXPECT_EQ(plan->BatchAt(1)->real, (wire::Shape{2, 11, 110}));
}

TEST_F(PlanTest, StaticPadsToMultiplesOf64ByDefault) {
  EXPECT_EQ(Create(Static(2))->BatchAt(1)->padded, (wire::Shape{3, 64, 128}));
}

TEST_F(PlanTest, AMultipleKeepsOneNodeForPadding) {
  SetSizes({63, 64}, {64, 65});
  const auto plan = Create(Static(1, wire::Pad::kMultiple));
  EXPECT_EQ(plan->BatchAt(0)->padded, (wire::Shape{2, 64, 64}));
  EXPECT_EQ(plan->BatchAt(1)->padded, (wire::Shape{2, 128, 128}));
}

TEST_F(PlanTest, Pow2TakesTheNextPowerWithOneNodeForPadding) {
  SetSizes({1, 3, 4, 1000}, {0, 2, 3, 1024});
  const auto plan = Create(Static(1, wire::Pad::kPow2));
  EXPECT_EQ(plan->BatchAt(0)->padded, (wire::Shape{2, 2, 2}));
  EXPECT_EQ(plan->BatchAt(1)->padded, (wire::Shape{2, 4, 2}));
  EXPECT_EQ(plan->BatchAt(2)->padded, (wire::Shape{2, 8, 4}));
  EXPECT_EQ(plan->BatchAt(3)->padded, (wire::Shape{2, 1024, 1024}));
}

TEST_F(PlanTest, ConstantHoldsOneMoreOfTheLargestGraphOfTheWholeSplit) {
  const auto plan = Create(Static(2, wire::Pad::kConstant));
  const wire::Shape shape = {3, 65, 256};  // nextmult64(7 * 3) + 1 and nextmult64(70 * 3)
  for (std::uint64_t index = 0; index < 3; ++index) EXPECT_EQ(plan->BatchAt(index)->padded, shape);
}

TEST_F(PlanTest, ALadderPadsToItsFirstRungThatHoldsTheBatch) {
  SetSizes({7, 8, 8, 15, 100}, {8, 8, 9, 16, 3});
  const auto plan = Create(Ladder(1, 5));
  EXPECT_EQ(plan->BatchAt(0)->padded, (wire::Shape{2, 8, 8}));
  EXPECT_EQ(plan->BatchAt(1)->padded, (wire::Shape{2, 16, 8}));  // one node is padding
  EXPECT_EQ(plan->BatchAt(2)->padded, (wire::Shape{2, 16, 16}));
  EXPECT_EQ(plan->BatchAt(3)->padded, (wire::Shape{2, 16, 16}));
  EXPECT_EQ(plan->BatchAt(4)->padded, (wire::Shape{2, 104, 16}));
}

TEST_F(PlanTest, ALadderOfOneHoldsTheLargestGraphs) {
  SetSizes({1, 20, 3, 40, 5}, {50, 4, 30, 2, 1});
  const auto plan = Create(Ladder(2, 1));
  for (std::uint64_t index = 0; index < 3; ++index)
    EXPECT_EQ(plan->BatchAt(index)->padded, (wire::Shape{3, 64, 80}));
}

TEST_F(PlanTest, ALadderStatesRungsThatNoBatchTakes) {
  SetSizes({1, 40, 1, 40}, {0, 0, 0, 0});
  const wire::PlanSummary summary = Create(Ladder(2, 8))->Summarize();
  ASSERT_THAT(summary.shapes, SizeIs(2));
  EXPECT_EQ(summary.shapes[0].shape, (wire::Shape{3, 48, 0}));
  EXPECT_EQ(summary.shapes[0].batches, 2u);
  EXPECT_EQ(summary.shapes[1].shape, (wire::Shape{3, 88, 0}));
  EXPECT_EQ(summary.shapes[1].batches, 0u);
}

TEST_F(PlanTest, ALadderIsTheSameForEverySeedAndEpochOfAnOrder) {
  wire::BatchSpec spec = Ladder(2, 3);
  for (const wire::Order order : {wire::Order::kFull, wire::Order::kWindow}) {
    spec.order = order;
    if (order == wire::Order::kWindow) spec.order_window = 2;
    std::set<wire::Shape> shapes;
    for (spec.seed = 0; spec.seed < 4; ++spec.seed) {
      for (const wire::ShapeCount& count : Create(spec)->Summarize().shapes) shapes.insert(count.shape);
    }
    EXPECT_THAT(shapes, SizeIs(3));
  }
}

TEST_F(PlanTest, NonePadsNothing) {
  const auto plan = Create(Static(2, wire::Pad::kNone));
  EXPECT_EQ(plan->BatchAt(0)->padded, (wire::Shape{2, 7, 70}));
  EXPECT_EQ(plan->BatchAt(2)->padded, (wire::Shape{1, 7, 70}));
  EXPECT_THAT(plan->Summarize().fill_nodes, DoubleEq(1.0));
}

TEST_F(PlanTest, OnlyGraphsOfTheSplitArePlanned) {
  split_ = {1, 4};
  const auto plan = Create(Static(2, wire::Pad::kConstant));
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(1, 4));
}

TEST_F(PlanTest, FullOrderDiffersByEpochAndSeed) {
  SetSizes(Sizes(100, 1), Sizes(100, 0));
  wire::BatchSpec spec = Static(100);
  spec.order = wire::Order::kFull;
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

}  // namespace
}  // namespace packtrain::batching
