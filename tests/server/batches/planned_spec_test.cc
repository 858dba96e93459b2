// What the planner understands by the batch spec of a message.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/wire/batch_spec_convert.h"
#include "server/batching/spec_rules.h"

namespace packtrain::batches {
namespace {

using ::testing::HasSubstr;

v1::BatchSpec Spec(v1::Policy policy) {
  v1::BatchSpec spec;
  spec.set_policy(policy);
  spec.set_graphs(8);
  if (policy != v1::POLICY_SUPERGRAPH) return spec;
  spec.set_blocks(3);
  spec.set_block_nodes(5);
  return spec;
}

// What the planner understands by a message.
std::string TextOf(const v1::BatchSpec& spec) {
  const absl::StatusOr<wire::BatchSpec> converted = wire::FromMessage(spec);
  return converted.ok() ? batching::CanonicalText(*converted) : converted.status().ToString();
}

// Calls `check` with every value of an enum of the protocol but the unspecified one.
template <typename Enum, typename Check>
void ForEachValue(Check check) {
  const google::protobuf::EnumDescriptor& values = *google::protobuf::GetEnumDescriptor<Enum>();
  for (int k = 0; k < values.value_count(); ++k) {
    if (values.value(k)->number() != 0) check(static_cast<Enum>(values.value(k)->number()));
  }
}

TEST(PlannedSpecTest, EveryPolicyIsThePlannersOfThatName) {
  ForEachValue<v1::Policy>([](v1::Policy policy) {
    EXPECT_THAT(TextOf(Spec(policy)),
                HasSubstr(absl::StrCat(" policy=",
                                       wire::WordOf(static_cast<wire::Policy>(policy), wire::kPolicyWords))));
  });
}

TEST(PlannedSpecTest, BlocksAreThePlanners) {
  EXPECT_THAT(TextOf(Spec(v1::POLICY_SUPERGRAPH)), HasSubstr(" max_graphs=15 blocks=3 block_nodes=5 "));
}

TEST(PlannedSpecTest, EveryPadIsThePlannersOfThatName) {
  ForEachValue<v1::Pad>([](v1::Pad pad) {
    v1::BatchSpec spec = Spec(v1::POLICY_STATIC);
    spec.set_pad(pad);
    if (pad == v1::PAD_LADDER) spec.set_ladder_rungs(3);
    EXPECT_THAT(TextOf(spec), HasSubstr(absl::StrCat(
                                  " pad=", wire::PolicyName(spec).substr(std::string("static-").size()), " ")));
  });
}

TEST(PlannedSpecTest, OrderOversizeAndBalanceAreThePlanners) {
  v1::BatchSpec spec = Spec(v1::POLICY_DYNAMIC);
  EXPECT_THAT(TextOf(spec), HasSubstr(" oversize=error order=full seed=0 drop_last=0"));
  spec.set_order(v1::ORDER_FULL);
  spec.set_oversize(v1::OVERSIZE_ERROR);
  spec.set_balance(v1::BALANCE_NONE);
  EXPECT_THAT(TextOf(spec), HasSubstr(" oversize=error order=full seed=0 drop_last=0"));
  spec.set_order(v1::ORDER_NONE);
  spec.set_oversize(v1::OVERSIZE_ALONE);
  EXPECT_THAT(TextOf(spec), HasSubstr(" oversize=alone order=none drop_last=0"));
  spec.set_order(v1::ORDER_WINDOW);
  spec.set_order_window(5);
  spec.set_seed(7);
  spec.set_drop_last(true);
  spec.set_oversize(v1::OVERSIZE_SKIP);
  spec.set_balance(v1::BALANCE_COST);
  spec.mutable_cost()->set_graph(2);
  spec.mutable_cost()->set_node(3);
  spec.mutable_cost()->set_edge(4);
  EXPECT_THAT(TextOf(spec),
              HasSubstr(" oversize=skip order=window:5 seed=7 drop_last=1 balance=cost cost=2,3,4"));
}

TEST(PlannedSpecTest, ASliceIsThePlanners) {
  ForEachValue<v1::SkipAbove>([](v1::SkipAbove skip_above) {
    v1::BatchSpec spec = Spec(v1::POLICY_DYNAMIC);
    spec.set_skip_above(skip_above);
    spec.set_skip_above_limit(64);
    const std::string word = wire::WordOf(static_cast<wire::SkipAbove>(skip_above), wire::kSkipAboveWords);
    EXPECT_THAT(TextOf(spec), HasSubstr(absl::StrCat(" skip_above=", word, ":64")));
  });
}

TEST(PlannedSpecTest, NumbersAreThePlanners) {
  v1::BatchSpec spec = Spec(v1::POLICY_PACKED);
  EXPECT_THAT(TextOf(spec), HasSubstr(" graphs=8 max_graphs=12 nodes=split edges=split budget_sample=all"));
  spec.set_max_graphs(9);
  spec.set_nodes(100);
  spec.set_budget_sample(50);
  spec.set_lookahead(6);
  EXPECT_THAT(TextOf(spec), HasSubstr(" graphs=8 max_graphs=9 nodes=100 edges=split budget_sample=50"));
  EXPECT_THAT(TextOf(spec), HasSubstr(" lookahead=6 "));
  spec.set_edges(0);  // present, and out of range, which the planner says
  EXPECT_EQ(wire::FromMessage(spec)->edges, 0u);
}

TEST(PlannedSpecTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(TextOf(v1::BatchSpec()),
              HasSubstr("INVALID_ARGUMENT: spec.policy is missing: choose one of static"));
  EXPECT_THAT(TextOf(Spec(static_cast<v1::Policy>(99))),
              HasSubstr("INVALID_ARGUMENT: spec.policy = 99 is not known to this server"));
  v1::BatchSpec spec = Spec(v1::POLICY_DYNAMIC);
  spec.set_oversize(static_cast<v1::Oversize>(17));
  EXPECT_THAT(TextOf(spec), HasSubstr("INVALID_ARGUMENT: spec.oversize = 17 is not known to this server"));
}

}  // namespace
}  // namespace packtrain::batches
