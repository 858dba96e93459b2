#include "proto/wire/batch_spec.h"

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

std::string Joined(const std::vector<OptionText>& options) {
  std::string joined;
  for (const OptionText& option : options) joined += std::string(option.flag) + "=" + option.value + " ";
  return joined;
}

TEST(BatchSpecTest, OptionsAreTextInTheOrderOfTheMembers) {
  const BatchSpec spec = {.policy = Policy::kStatic,
                          .pad = Pad::kLadder,
                          .ladder_rungs = 8,
                          .graphs = 31,
                          .max_graphs = 32,
                          .nodes = 600,
                          .edges = 9000,
                          .order = Order::kWindow,
                          .order_window = 4096,
                          .seed = 5,
                          .split = "test",
                          .oversize = Oversize::kAlone,
                          .drop_last = true,
                          .budget_sample = 100,
                          .balance = Balance::kCost,
                          .cost = CostCoefficients{.graph = 3, .node = 0, .edge = 2},
                          .lookahead = 16,
                          .blocks = 4,
                          .block_nodes = 64,
                          .skip_above = SkipAbove::kBandwidth,
                          .skip_above_limit = 1024};
  EXPECT_EQ(Joined(OptionTexts(spec)),
            "--policy=static --pad=ladder:8 --graphs=31 --max-graphs=32 --nodes=600 --edges=9000 "
            "--order=window:4096 --seed=5 --split=test --oversize=alone --drop-last=yes --budget-sample=100 "
            "--balance=cost --cost=3,0,2 --lookahead=16 --blocks=4 --block-nodes=64 "
            "--skip-above=bandwidth:1024 ");
}

TEST(BatchSpecTest, WhatIsNotGivenHasNoText) {
  EXPECT_EQ(Joined(OptionTexts(BatchSpec())),
            "--policy= --pad= --graphs=0 --max-graphs= --nodes= --edges= --order=full --seed=0 --split= "
            "--oversize=error --drop-last=no --budget-sample= --balance=none --cost= --lookahead= --blocks= "
            "--block-nodes= --skip-above= ");
}

TEST(BatchSpecTest, ASpecNeedsAPolicy) {
  EXPECT_THAT(CheckPolicyGiven(BatchSpec()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--policy is missing; known are static, dynamic, packed, tuple, supergraph")));
  EXPECT_THAT(CheckPolicyGiven({.policy = Policy::kTuple}), IsOk());
}

TEST(BatchSpecTest, MessagesNameTheFlagsThatDecideTheSize) {
  EXPECT_STREQ(SizeFlagsOf({.policy = Policy::kStatic}), "--graphs and --pad");
  EXPECT_STREQ(SizeFlagsOf({.policy = Policy::kPacked}), "--graphs, --nodes and --edges");
  EXPECT_STREQ(SizeFlagsOf({.policy = Policy::kSupergraph}), "--blocks and --block-nodes");
}

}  // namespace
}  // namespace packtrain::wire
