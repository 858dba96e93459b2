// Plans of slices: --skip-above.
#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "server/batching/spec_rules.h"
#include "tests/server/batching/plan_fixture.h"

namespace packtrain::batching {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

wire::BatchSpec Sliced(wire::BatchSpec spec, wire::SkipAbove by, std::uint32_t limit) {
  spec.skip_above = by;
  spec.skip_above_limit = limit;
  return spec;
}

wire::BatchSpec ByNodes(wire::BatchSpec spec, std::uint32_t limit) {
  return Sliced(std::move(spec), wire::SkipAbove::kNodes, limit);
}

TEST_F(PlanTest, AGraphAtTheLimitStaysAndOneAboveItIsLeftOutAndCounted) {
  const auto plan = Create(ByNodes(Static(2), 5));
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(2));
  EXPECT_EQ(plan->steps(), 2u);
  const wire::PlanSummary summary = plan->Summarize();
  EXPECT_EQ(summary.graphs, 3u);
  EXPECT_EQ(summary.skipped_graphs, 2u);
  EXPECT_EQ(summary.oversize, 0u);
  EXPECT_EQ(Create(ByNodes(Static(2), 7))->Summarize().skipped_graphs, 0u);
  EXPECT_EQ(Create(Static(2))->Summarize().skipped_graphs, 0u);
}

TEST_F(PlanTest, ALimitOfBandwidthsReadsBandwidths) {
  const Sizes bandwidth = {2, 1, 3, 4, 2};
  PlanRequest request = Request(Sliced(Static(5), wire::SkipAbove::kBandwidth, 2));
  request.sizes.bandwidth = bandwidth;
  const auto plan = Plan::Create(request).value();
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1, 4));
  EXPECT_EQ(plan->Summarize().skipped_graphs, 2u);
}

TEST_F(PlanTest, BudgetsAndShapesAreThoseOfTheSlice) {
  SetSizes({3, 4, 900, 5}, {30, 40, 9000, 50});
  EXPECT_EQ(Create(ByNodes(Dynamic(1), 5))->Summarize().budget, (wire::Shape{1, 64, 128}));
  const auto constant = Create(ByNodes(Static(1, wire::Pad::kConstant), 5));
  EXPECT_EQ(constant->BatchAt(0)->padded, (wire::Shape{2, 65, 128}));
}

TEST_F(PlanTest, OversizeGraphsOfTheSliceAreCountedApart) {
  wire::BatchSpec spec = ByNodes(Dynamic(1, 6, 100), 6);
  ExpectImpossible(spec, "and --edges 100: 1 of 4; the largest is graph 3 with 6 nodes");
  spec.oversize = wire::Oversize::kSkip;
  const wire::PlanSummary summary = Create(spec)->Summarize();
  EXPECT_EQ(summary.graphs, 3u);
  EXPECT_EQ(summary.oversize, 1u);
  EXPECT_THAT(summary.oversize_graphs, ElementsAre(3));
  EXPECT_EQ(summary.skipped_graphs, 1u);
}

TEST_F(PlanTest, RefusesASliceWithoutGraphs) {
  ExpectImpossible(
      ByNodes(Static(2), 2),
      "--skip-above nodes:2 would leave no graph of 5: nodes:3 is the smallest limit that keeps one");
}

TEST_F(PlanTest, RefusesALimitOfBandwidthsThatAreNotKnown) {
  ExpectImpossible(
      Sliced(Static(2), wire::SkipAbove::kBandwidth, 64),
      "--skip-above bandwidth:64 needs graphs whose nodes are renumbered: import or derive the data "
      "set with --renumber rcm");
}

TEST_F(PlanTest, RefusesALimitOutOfRangeOrWithoutItsWord) {
  ExpectInvalid(ByNodes(Static(2), 0),
                "--skip-above nodes:0 is out of range: nodes:K with K from 1 to 4294967295");
  wire::BatchSpec spec = Static(2);
  spec.skip_above = wire::SkipAbove::kNodes;
  ExpectInvalid(spec, "--skip-above and its limit K go together");
  spec = Static(2);
  spec.skip_above_limit = 2;
  ExpectInvalid(spec, "--skip-above and its limit K go together");
}

TEST(CanonicalTextTest, HoldsTheLimitOfASlice) {
  const wire::BatchSpec spec = {.policy = wire::Policy::kStatic, .graphs = 8};
  EXPECT_EQ(CanonicalText(ByNodes(spec, 512)), CanonicalText(spec) + " skip_above=nodes:512");
  EXPECT_THAT(CanonicalText(Sliced(spec, wire::SkipAbove::kBandwidth, 64)),
              HasSubstr(" skip_above=bandwidth:64"));
}

}  // namespace
}  // namespace packtrain::batching
