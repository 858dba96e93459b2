#include "server/batching/spec_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace packtrain::batching {
namespace {

using ::testing::HasSubstr;

TEST(CanonicalTextTest, FillsInEveryDefault) {
  EXPECT_EQ(CanonicalText({.policy = wire::Policy::kStatic, .graphs = 32}),
            "plan_version=2 policy=static graphs=32 max_graphs=32 pad=multiple order=full seed=0 drop_last=0");
  EXPECT_EQ(CanonicalText({.policy = wire::Policy::kDynamic, .graphs = 32}),
            "plan_version=2 policy=dynamic graphs=32 max_graphs=32 nodes=split edges=split budget_sample=all "
            "oversize=error order=full seed=0 drop_last=0");
}

TEST(CanonicalTextTest, HoldsWhatIsGiven) {
  EXPECT_EQ(CanonicalText({.policy = wire::Policy::kDynamic,
                           .graphs = 8,
                           .max_graphs = 10,
                           .nodes = 100,
                           .order = wire::Order::kNone,
                           .oversize = wire::Oversize::kSkip,
                           .drop_last = true,
                           .budget_sample = 1000}),
            "plan_version=2 policy=dynamic graphs=8 max_graphs=10 nodes=100 edges=split budget_sample=1000 "
            "oversize=skip order=none drop_last=1");
  EXPECT_EQ(
      CanonicalText({.policy = wire::Policy::kStatic, .pad = wire::Pad::kConstant, .graphs = 8, .seed = 7}),
      "plan_version=2 policy=static graphs=8 max_graphs=8 pad=constant order=full seed=7 drop_last=0");
}

TEST(CanonicalTextTest, SaysWhatRanksAreBalancedBy) {
  EXPECT_EQ(
      CanonicalText({.policy = wire::Policy::kStatic,
                     .graphs = 8,
                     .order = wire::Order::kNone,
                     .seed = 7,
                     .balance = wire::Balance::kCost}),
      "plan_version=2 policy=static graphs=8 max_graphs=8 pad=multiple order=none drop_last=0 balance=cost "
      "cost=0,1,1");
  // Steps are shuffled.
  EXPECT_EQ(CanonicalText({.policy = wire::Policy::kDynamic,
                           .graphs = 8,
                           .order = wire::Order::kNone,
                           .seed = 7,
                           .balance = wire::Balance::kCost,
                           .cost = wire::CostCoefficients{20, 3, 1}}),
            "plan_version=2 policy=dynamic graphs=8 max_graphs=8 nodes=split edges=split budget_sample=all "
            "oversize=error order=none seed=7 drop_last=0 balance=cost cost=20,3,1");
}

TEST(CanonicalTextTest, HoldsTheBlocksOfASupergraph) {
  wire::BatchSpec spec = {.policy = wire::Policy::kSupergraph, .blocks = 32, .block_nodes = 64};
  EXPECT_EQ(
      CanonicalText(spec),
      "plan_version=2 policy=supergraph max_graphs=2048 blocks=32 block_nodes=64 oversize=error order=full "
      "seed=0 drop_last=0");
  spec.graphs = 99;  // is not read
  spec.max_graphs = 50;
  spec.oversize = wire::Oversize::kSkip;
  EXPECT_EQ(CanonicalText(spec),
            "plan_version=2 policy=supergraph max_graphs=50 blocks=32 block_nodes=64 oversize=skip order=full "
            "seed=0 drop_last=0");
}

TEST(CheckSpecTest, ASupergraphNeedsBlocksAndNoGraphs) {
  wire::BatchSpec spec = {.policy = wire::Policy::kSupergraph};
  const auto refusal = [&] { return std::string(CheckSpec(spec).message()); };
  EXPECT_EQ(refusal(), "--policy supergraph needs --blocks and --block-nodes");
  spec.blocks = 4;
  EXPECT_EQ(refusal(), "--policy supergraph needs --blocks and --block-nodes");
  spec.block_nodes = 0;
  EXPECT_THAT(refusal(), HasSubstr("--blocks 4 --block-nodes 0 is out of range: 2 to 2147483647 node slots"));
  spec.block_nodes = 1u << 29;
  EXPECT_THAT(refusal(), HasSubstr("--blocks 4 --block-nodes 536870912 is out of range"));
  spec.block_nodes = (1u << 29) - 1;
  EXPECT_TRUE(CheckSpec(spec).ok()) << refusal();
  EXPECT_THAT(CanonicalText(spec), HasSubstr(" max_graphs=16777216 "));
  spec.blocks = spec.block_nodes = 1;
  EXPECT_THAT(refusal(), HasSubstr("--blocks 1 --block-nodes 1 is out of range"));
  spec.max_graphs = 0;
  EXPECT_THAT(refusal(), HasSubstr("--max-graphs 0 is out of range"));
}

TEST(CanonicalTextTest, HoldsTheRungs) {
  EXPECT_THAT(CanonicalText(
                  {.policy = wire::Policy::kStatic, .pad = wire::Pad::kLadder, .ladder_rungs = 8, .graphs = 4}),
              HasSubstr(" policy=static graphs=4 max_graphs=4 pad=ladder:8 slot_costs=1,1 order=full "));
  wire::BatchSpec spec = {
      .policy = wire::Policy::kStatic, .pad = wire::Pad::kLadder, .ladder_rungs = 8, .graphs = 4};
  spec.cost = wire::CostCoefficients{9, 2, 3};
  EXPECT_TRUE(CheckSpec(spec).ok());
  EXPECT_THAT(CanonicalText(spec), HasSubstr(" pad=ladder:8 slot_costs=2,3 "));
  spec.cost = wire::CostCoefficients{9, 0, 0};  // tells no shape from another
  EXPECT_THAT(CanonicalText(spec), HasSubstr(" pad=ladder:8 slot_costs=1,1 "));
}

TEST(CanonicalTextTest, HoldsTheWindow) {
  EXPECT_THAT(CanonicalText({.policy = wire::Policy::kStatic,
                             .graphs = 8,
                             .order = wire::Order::kWindow,
                             .order_window = 64,
                             .seed = 7}),
              HasSubstr(" pad=multiple order=window:64 seed=7 "));
}

TEST(CheckSpecTest, WantsTheWindowOfAWindowOrderAndOfNoOther) {
  wire::BatchSpec spec = {
      .policy = wire::Policy::kStatic, .graphs = 8, .order = wire::Order::kWindow, .order_window = 1};
  EXPECT_TRUE(CheckSpec(spec).ok());
  spec.order_window = 0;
  EXPECT_THAT(std::string(CheckSpec(spec).message()), HasSubstr("--order window:0 is out of range"));
  spec.order_window = std::nullopt;
  EXPECT_EQ(CheckSpec(spec).code(), absl::StatusCode::kInvalidArgument);
  spec.order = wire::Order::kFull;
  EXPECT_TRUE(CheckSpec(spec).ok());
  spec.order_window = 64;
  EXPECT_THAT(std::string(CheckSpec(spec).message()), HasSubstr("go together"));
}

// What each policy takes, beside what all take.
TEST(CheckSpecTest, RefusesTheOptionsOfOtherPolicies) {
  const struct {
    const char* name;
    wire::Policy policy;
    bool pad;
    bool limits;
    bool budget;
    bool lookahead;
    bool blocks;
  } policies[] = {{"static", wire::Policy::kStatic, true, false, false, false, false},
                  {"dynamic", wire::Policy::kDynamic, false, true, true, false, false},
                  {"packed", wire::Policy::kPacked, false, true, true, true, false},
                  {"tuple", wire::Policy::kTuple, false, true, true, false, false},
                  {"supergraph", wire::Policy::kSupergraph, false, true, false, false, true}};
  for (const auto& [its_name, its_policy, pad, limits, budget, lookahead, its_blocks] : policies) {
    const bool blocks = its_blocks;
    const wire::Policy policy = its_policy;  // C++20's lambdas capture bindings, clang 14's do not
    const char* const name = its_name;
    const auto expect = [&](const char* flag, bool taken, auto set) {
      wire::BatchSpec spec = {.policy = policy, .graphs = 8};
      if (blocks) spec.blocks = spec.block_nodes = 4;
      set(spec);
      const absl::Status status = CheckSpec(spec);
      EXPECT_EQ(status.ok(), taken) << flag << " of " << name;
      if (taken) return;
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(std::string(flag) + " does not go with --policy " + name));
    };
    expect("--pad", pad, [](wire::BatchSpec& spec) { spec.pad = wire::Pad::kNone; });
    expect("--max-graphs", limits, [](wire::BatchSpec& spec) { spec.max_graphs = 9; });
    expect("--nodes", budget, [](wire::BatchSpec& spec) { spec.nodes = 100; });
    expect("--edges", budget, [](wire::BatchSpec& spec) { spec.edges = 100; });
    expect("--budget-sample", budget, [](wire::BatchSpec& spec) { spec.budget_sample = 10; });
    expect("--oversize", limits, [](wire::BatchSpec& spec) { spec.oversize = wire::Oversize::kAlone; });
    expect("--oversize", limits, [](wire::BatchSpec& spec) { spec.oversize = wire::Oversize::kSkip; });
    expect("--lookahead", lookahead, [](wire::BatchSpec& spec) { spec.lookahead = 64; });
    expect("--blocks", blocks, [](wire::BatchSpec& spec) { spec.blocks = 3; });
    expect("--block-nodes", blocks, [](wire::BatchSpec& spec) { spec.block_nodes = 3; });
  }
}

TEST(CanonicalTextTest, IsEqualForEqualPlans) {
  const wire::BatchSpec plain = {.policy = wire::Policy::kStatic, .graphs = 32, .order = wire::Order::kNone};
  wire::BatchSpec spelt = plain;
  spelt.pad = wire::Pad::kMultiple;
  spelt.max_graphs = 32;
  spelt.seed = 9;  // nothing is shuffled
  EXPECT_EQ(CanonicalText(plain), CanonicalText(spelt));
}

TEST(CanonicalTextTest, TellsEveryPadAndOversizeApart) {
  const auto with_pad = [](wire::Pad pad) {
    return CanonicalText({.policy = wire::Policy::kStatic, .pad = pad, .graphs = 1});
  };
  EXPECT_NE(with_pad(wire::Pad::kNone), with_pad(wire::Pad::kMultiple));
  EXPECT_NE(with_pad(wire::Pad::kPow2), with_pad(wire::Pad::kConstant));
  const auto with_oversize = [](wire::Oversize oversize) {
    return CanonicalText({.policy = wire::Policy::kDynamic, .graphs = 1, .oversize = oversize});
  };
  EXPECT_NE(with_oversize(wire::Oversize::kError), with_oversize(wire::Oversize::kAlone));
  EXPECT_NE(with_oversize(wire::Oversize::kAlone), with_oversize(wire::Oversize::kSkip));
}

}  // namespace
}  // namespace packtrain::batching
