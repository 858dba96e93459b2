#include "server/runs/run_fields.h"

#include <gmock/gmock.h>

#include "tests/server/runs/run_fixtures.h"

namespace packtrain::runs {
namespace {

v1::BatchSpec Spec(v1::Policy policy, v1::Pad pad) {
  v1::BatchSpec spec;
  spec.set_policy(policy);
  spec.set_pad(pad);
  return spec;
}

TEST(RunFields, APolicyIncludesItsPad) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_NONE)), "static-none");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_MULTIPLE)), "static-multiple");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_POW2)), "static-pow2");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_CONSTANT)), "static-constant");
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_DYNAMIC, v1::PAD_UNSPECIFIED)), "dynamic");
}

TEST(RunFields, AnUnstatedPadIsTheDefault) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_STATIC, v1::PAD_UNSPECIFIED)), "static-multiple");
}

TEST(RunFields, AnUnstatedPolicyHasNoName) {
  EXPECT_EQ(PolicyName(Spec(v1::POLICY_UNSPECIFIED, v1::PAD_UNSPECIFIED)), "");
}

TEST(RunFields, HardwareCountsItsDevices) {
  v1::Hardware hardware;
  hardware.set_device("cuda");
  EXPECT_EQ(HardwareName(hardware), "cuda");
  hardware.set_name("H100");
  hardware.set_count(1);
  EXPECT_EQ(HardwareName(hardware), "H100");
  hardware.set_count(2);
  EXPECT_EQ(HardwareName(hardware), "2 x H100");
}

TEST(RunFields, SeedsBudgetsHostAndLabelsAreNoFactors) {
  v1::RunDescription description = StartRequest("key-00000001").description();
  const std::map<std::string, std::string> factors = Factors(description);
  description.mutable_spec()->set_seed(9);
  description.mutable_spec()->set_nodes(900);
  description.mutable_spec()->set_max_graphs(99);
  description.set_model_seed(9);
  description.set_plan_fingerprint("ff");
  description.mutable_hardware()->set_host("other");
  description.mutable_labels()->insert({"a", "b"});
  EXPECT_EQ(Factors(description), factors);
  description.mutable_spec()->set_graphs(64);
  EXPECT_NE(Factors(description), factors);
}

TEST(RunFields, ADatasetWithoutVersionHasAnEmptyOne) {
  v1::Run run;
  run.mutable_description()->set_dataset("qm9");
  EXPECT_EQ(FindField("dataset")(run), "qm9");
  EXPECT_EQ(FindField("version")(run), "");
}

TEST(RunFields, StatesHaveNames) {
  EXPECT_EQ(StateName(v1::RUN_STATE_RUNNING), "running");
  EXPECT_EQ(StateName(v1::RUN_STATE_DONE), "done");
  EXPECT_EQ(StateName(v1::RUN_STATE_FAILED), "failed");
  EXPECT_EQ(StateName(v1::RUN_STATE_LOST), "lost");
  EXPECT_EQ(StateName(v1::RUN_STATE_UNSPECIFIED), "");
}

}  // namespace
}  // namespace packtrain::runs
