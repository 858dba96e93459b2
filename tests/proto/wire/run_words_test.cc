#include "proto/wire/run_words.h"

#include <gtest/gtest.h>

namespace packtrain::wire {
namespace {

v1::BatchSpec Spec(v1::Policy policy, v1::Pad pad) {
  v1::BatchSpec spec;
  spec.set_policy(policy);
  spec.set_pad(pad);
  return spec;
}

TEST(RunWords, APolicyIncludesItsPad) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_NONE)), "static-none");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_MULTIPLE)), "static-multiple");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_POW2)), "static-pow2");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_CONSTANT)), "static-constant");
  v1::BatchSpec ladder = Spec(v1::POLICY_STATIC, v1::PAD_LADDER);
  ladder.set_ladder_rungs(8);
  EXPECT_EQ(PolicyName(ladder), "static-ladder:8");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_DYNAMIC, v1::PAD_UNSPECIFIED)), "dynamic");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_PACKED, v1::PAD_UNSPECIFIED)), "packed");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_TUPLE, v1::PAD_UNSPECIFIED)), "tuple");
}

TEST(RunWords, AnUnstatedPadIsTheDefault) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_UNSPECIFIED)), "static-multiple");
}

TEST(RunWords, AnUnstatedPolicyHasNoName) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_UNSPECIFIED, v1::PAD_UNSPECIFIED)), "");
}

TEST(RunWords, ValuesOfANewerPeerAreNumbered) {
  EXPECT_EQ(PolicyName(Spec(static_cast<v1::Policy>(77), v1::PAD_UNSPECIFIED)), "unknown(77)");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, static_cast<v1::Pad>(78))), "static-unknown(78)");
  EXPECT_EQ(StateName(static_cast<v1::RunState>(79)), "unknown(79)");
}

TEST(RunWords, StatesHaveNames) {
  EXPECT_EQ(StateName(v1::RUN_STATE_RUNNING), "running");
  EXPECT_EQ(StateName(v1::RUN_STATE_DONE), "done");
  EXPECT_EQ(StateName(v1::RUN_STATE_FAILED), "failed");
  EXPECT_EQ(StateName(v1::RUN_STATE_LOST), "lost");
  EXPECT_EQ(StateName(v1::RUN_STATE_UNSPECIFIED), "");
}

TEST(RunWords, HardwareCountsItsDevices) {
  v1::Hardware hardware;
  hardware.set_device("cuda");
  EXPECT_EQ(HardwareName(hardware), "cuda");
  hardware.set_name("H100");
  hardware.set_count(1);
  EXPECT_EQ(HardwareName(hardware), "H100");
  hardware.set_count(2);
  EXPECT_EQ(HardwareName(hardware), "2 x H100");
}

}  // namespace
}  // namespace packtrain::wire
