#include "server/analysis/run_fields.h"

#include <gmock/gmock.h>

#include "tests/server/analysis/reported_run.h"

namespace packtrain::analysis {
namespace {

TEST(RunFields, SeedsBudgetsHostAndLabelsAreNoFactors) {
  v1::RunDescription description = SampleDescription();
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

TEST(RunFields, TheHardwareThatIsComparedIsThatOfOneRank) {
  const auto hardware = [](std::uint32_t ranks, std::uint32_t devices) {
    v1::RunDescription description = SampleDescription();
    description.set_world_size(ranks);
    description.mutable_hardware()->set_count(devices);
    return Factors(description).at("hardware");
  };
  EXPECT_EQ(hardware(1, 1), "Xeon");
  EXPECT_EQ(hardware(2, 2), "Xeon");
  EXPECT_EQ(hardware(2, 1), "Xeon");
  EXPECT_EQ(hardware(1, 8), "8 x Xeon");
  EXPECT_EQ(hardware(2, 16), "8 x Xeon");
}

TEST(RunFields, ADatasetWithoutVersionHasAnEmptyOne) {
  v1::Run run;
  run.mutable_description()->set_dataset("qm9");
  EXPECT_EQ(FindField("dataset")(run), "qm9");
  EXPECT_EQ(FindField("version")(run), "");
}

}  // namespace
}  // namespace packtrain::analysis
