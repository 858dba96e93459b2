// Requests that no plan is made for.
#include <gmock/gmock.h>

#include "server/batching/plan.h"
#include "tests/server/batching/plan_fixture.h"

namespace packtrain::batching {
namespace {

TEST_F(PlanTest, RefusesGraphCountsOutOfRange) {
  ExpectInvalid(Static(0), "--graphs 0 is out of range: 1 to 16777216");
  ExpectInvalid(Dynamic(16777217), "--graphs 16777217 is out of range");
  wire::BatchSpec spec = Dynamic(1);
  spec.max_graphs = 0;
  ExpectInvalid(spec, "--max-graphs 0 is out of range");
}

TEST_F(PlanTest, StaticRefusesWhatItHasNoUseFor) {
  wire::BatchSpec spec = Static(2);
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
  wire::BatchSpec spec = Dynamic(2);
  spec.pad = wire::Pad::kNone;
  ExpectInvalid(spec, "--pad does not go with --policy dynamic");
  spec = Static(2, wire::Pad::kLadder);
  ExpectInvalid(spec, "--pad ladder:K and its number K go together");
  spec.ladder_rungs = 0;
  ExpectInvalid(spec, "--pad ladder:0 is out of range: ladder:K takes K from 1 to 64");
  spec.ladder_rungs = 65;
  ExpectInvalid(spec, "--pad ladder:65 is out of range");
  spec.ladder_rungs = 64;
  spec.pad = wire::Pad::kPow2;
  ExpectInvalid(spec, "--pad ladder:K and its number K go together");
  spec = Dynamic(2, 100, 100);
  spec.budget_sample = 3;
  ExpectInvalid(spec, "--budget-sample decides nothing where --nodes and --edges are given");
}

TEST_F(PlanTest, DynamicRefusesLimitsOutOfRange) {
  ExpectInvalid(Dynamic(2, 1), "--nodes 1 is out of range: 2 to 2147483647");
  ExpectInvalid(Dynamic(2, 0x80000000), "--nodes 2147483648 is out of range");
  ExpectInvalid(Dynamic(2, 10, 0), "--edges 0 is out of range: 1 to 2147483647");
  wire::BatchSpec spec = Dynamic(2);
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
  for (const wire::Segment& segment :
       {wire::Segment{0xffffffff, ~std::uint64_t{0}}, wire::Segment{2, std::uint64_t{1} << 63},
        wire::Segment{1, ~std::uint64_t{0}}, wire::Segment{0xffffffff, 2}}) {
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
  ExpectImpossible(Static(2, wire::Pad::kNone),
                   "--graphs 2 with --pad none can give a batch of 2147484392 node slots");
  ExpectImpossible(Static(2, wire::Pad::kMultiple), "node slots; the most is 2147483647");
  ExpectImpossible(Static(1, wire::Pad::kPow2), "2147483648 node slots");
  ExpectImpossible(Static(1, wire::Pad::kConstant), "node slots");
  ExpectImpossible(Ladder(2, 8), "--graphs 2 with --pad ladder:8 can give a batch of 2147484400 node slots");
  ExpectImpossible(Dynamic(3), "the budget for --graphs 3 would be --nodes 28");
  EXPECT_TRUE(Plan::Create(Request(Static(1, wire::Pad::kNone))).ok());
  SetSizes({1, 1}, {0x7fffffff, 1});
  ExpectImpossible(Static(2, wire::Pad::kNone), "2147483648 edge slots");
  ExpectImpossible(Dynamic(2), "would be --edges");
}

TEST_F(PlanTest, AShapeThatInt32CannotNumberIsRefusedWithWhatHelps) {
  SetSizes({0x40000000, 0x40000000, 1}, {1, 1, 1});
  ExpectImpossible(Static(2, wire::Pad::kMultiple), "2147483647: lower --graphs");
  SetSizes({0x7fffff00, 1000, 1}, {1, 1, 1});
  ExpectImpossible(Static(1, wire::Pad::kPow2), "takes more; take --pad none");
  ExpectImpossible(Static(1, wire::Pad::kConstant), "takes more; take --pad none");
  ExpectImpossible(Dynamic(3), "lower --graphs");
  SetSizes({0x80000000, 1, 1}, {1, 1, 1});
  ExpectImpossible(Static(1, wire::Pad::kNone), "leave it out with --policy dynamic");
  ExpectImpossible(Dynamic(1), "give --nodes and --edges, and leave it out with --oversize skip");
}

TEST_F(PlanTest, TheShapeLimitCountsTheLargestGraphsAlone) {
  // Three times the largest would be too many; the three largest are not.
  SetSizes({0x70000000, 1, 1, 1}, {1, 1, 1, 1});
  EXPECT_TRUE(Plan::Create(Request(Static(3, wire::Pad::kMultiple))).ok());
}

TEST_F(PlanTest, RefusesAGraphThatIsTooLargeEvenAlone) {
  SetSizes({1, 0x7fffffff}, {1, 1});
  wire::BatchSpec spec = Dynamic(1, 100, 100);
  spec.oversize = wire::Oversize::kAlone;
  ExpectImpossible(spec, "does not fit a batch of at most 2147483647 slots even with --oversize alone");
  spec.oversize = wire::Oversize::kSkip;
  EXPECT_TRUE(Plan::Create(Request(spec)).ok());
}

}  // namespace
}  // namespace packtrain::batching
