// The cells of a comparison, and the values that it compares in them.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "tests/server/analysis/comparison_fixtures.h"

namespace packtrain::analysis {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST_F(Comparisons, SyntheticRunsAreACellOfTheirOwn) {
  AddRuns(Dynamic, kFast);
  AddRuns(Multiple, kSlow);
  const auto by_field = [](v1::RunDescription& description) {
    Dynamic(description);
    description.set_input("synthetic");
  };
  const auto by_label = [](v1::RunDescription& description) {
    Multiple(description);
    description.mutable_labels()->insert({"input", "synthetic"});
  };
  AddRuns(by_field, {0.50e-3, 0.51e-3, 0.52e-3});
  EXPECT_EQ(CompareBy("policy").cells_size(), 1);
  EXPECT_EQ(CompareBy("policy").cells(0).pairs(0).n_a(), 3u);
  AddRuns(by_label, {0.60e-3, 0.61e-3, 0.62e-3});
  const v1::CompareRunsResponse response = CompareBy("policy");
  ASSERT_EQ(response.cells_size(), 2);
  EXPECT_EQ(response.cells(0).factors().at("input"), "served");
  EXPECT_EQ(response.cells(1).factors().at("input"), "synthetic");
  EXPECT_EQ(CompareBy("input").cells(0).pairs(0).a(), "served");
}

TEST_F(Comparisons, HardwareIsComparedWithItsCpuAndOtherwiseBothMakeCells) {
  const auto on = [](const std::string& gpu, const std::string& cpu) {
    return [=](v1::RunDescription& description) {
      description.mutable_hardware()->set_device("cuda");
      description.mutable_hardware()->set_name(gpu);
      description.mutable_hardware()->set_cpu(cpu);
    };
  };
  AddRun(on("H200", "Xeon"), 1e-3);
  AddRun(on("A100", "EPYC"), 2e-3);
  const v1::CompareRunsResponse by_hardware = CompareBy("hardware");
  ASSERT_EQ(by_hardware.cells_size(), 1);
  EXPECT_EQ(by_hardware.cells(0).pairs(0).a(), "A100, EPYC");
  EXPECT_EQ(by_hardware.cells(0).pairs(0).b(), "H200, Xeon");
  EXPECT_FALSE(by_hardware.cells(0).factors().contains("cpu"));
  AddRun(
      [&](v1::RunDescription& description) {
        on("H200", "EPYC")(description);
        Dynamic(description);
      },
      1e-3);
  EXPECT_EQ(CompareBy("policy").cells_size(), 0);
}

TEST_F(Comparisons, EachCombinationOfTheOtherFactorsIsACell) {
  const auto with_graphs = [](const Change& policy, std::uint32_t graphs) {
    return [policy, graphs](v1::RunDescription& description) {
      policy(description);
      description.mutable_spec()->set_graphs(graphs);
    };
  };
  for (const std::uint32_t graphs : {32u, 64u}) {
    AddRuns(with_graphs(Dynamic, graphs), kFast);
    AddRuns(with_graphs(Multiple, graphs), kSlow);
  }
  const v1::CompareRunsResponse by_policy = CompareBy("policy");
  ASSERT_EQ(by_policy.cells_size(), 2);
  EXPECT_THAT(by_policy.cells(0).factors(),
              UnorderedElementsAre(Pair("model", "schnet"), Pair("target", "energy"), Pair("dataset", "qm9"),
                                   Pair("version", "1"), Pair("precision", "f32"), Pair("engine", "eager"),
                                   Pair("input", "served"), Pair("world_size", "1"), Pair("batch_graphs", "32"),
                                   Pair("hardware", "Xeon"), Pair("cpu", ""), Pair("skip_above", "none")));
  EXPECT_EQ(by_policy.cells(1).factors().at("batch_graphs"), "64");
  // Holm is over the pairs of all cells.
  EXPECT_NEAR(by_policy.cells(0).pairs(0).holm_p(), 2 * 0.0006115535836540797, kTolerance);
  EXPECT_EQ(CompareBy("batch_graphs").cells(0).pairs(0).a(), "32");
}

TEST_F(Comparisons, RunsOfOtherSlicesAreOtherCellsAndAreComparedByTheirSlice) {
  const Change narrow = [](v1::RunDescription& description) {
    Dynamic(description);
    description.mutable_spec()->set_skip_above(v1::SKIP_ABOVE_BANDWIDTH);
    description.mutable_spec()->set_skip_above_limit(1024);
  };
  AddRuns(narrow, kFast);
  AddRuns(Multiple, kAlike);
  EXPECT_EQ(CompareBy("policy").cells_size(), 0);
  AddRuns(Dynamic, kSlow);
  const v1::CompareRunsResponse by_policy = CompareBy("policy");
  ASSERT_EQ(by_policy.cells_size(), 1);
  EXPECT_EQ(by_policy.cells(0).factors().at("skip_above"), "none");
  const v1::CompareRunsResponse by_slice = CompareBy("skip_above");
  ASSERT_EQ(by_slice.cells_size(), 1);
  EXPECT_EQ(by_slice.cells(0).pairs(0).a(), "bandwidth:1024");
  EXPECT_EQ(by_slice.cells(0).pairs(0).b(), "none");
}

TEST_F(Comparisons, ValuesAreInOrderOfNumbers) {
  for (const std::uint32_t graphs : {127u, 31u, 1024u}) {
    AddRun([graphs](v1::RunDescription& d) { d.mutable_spec()->set_graphs(graphs); }, 1e-3);
  }
  const v1::CompareRunsResponse response = CompareBy("batch_graphs");
  ASSERT_EQ(response.cells(0).pairs_size(), 3);
  EXPECT_EQ(response.cells(0).pairs(0).a(), "31");
  EXPECT_EQ(response.cells(0).pairs(0).b(), "127");
  EXPECT_EQ(response.cells(0).pairs(1).b(), "1024");
}

TEST_F(Comparisons, VersionsOfADatasetNeverMix) {
  const auto on = [](const std::string& dataset, const Change& policy) {
    return [dataset, policy](v1::RunDescription& description) {
      policy(description);
      description.set_dataset(dataset);
    };
  };
  AddRuns(on("qm9@1", Dynamic), {1e-3, 4e-3});
  AddRuns(on("qm9@2", Dynamic), {2e-3, 4e-3, 8e-3});
  AddRun(on("aflow@3", Dynamic), 8e-3);
  AddRun(on("qm9@1", Multiple), 1e-3);
  AddRun(on("qm9@2", Multiple), 2e-3);

  const v1::CompareRunsResponse by_policy = CompareBy("policy");
  ASSERT_EQ(by_policy.cells_size(), 2);
  EXPECT_EQ(by_policy.cells(0).factors().at("version"), "1");
  EXPECT_EQ(by_policy.cells(0).pairs(0).n_a(), 2u);
  EXPECT_EQ(by_policy.cells(1).factors().at("version"), "2");
  EXPECT_EQ(by_policy.cells(1).pairs(0).n_a(), 3u);

  const v1::CompareRunsResponse by_version = CompareBy("version");
  ASSERT_EQ(by_version.cells_size(), 2);
  EXPECT_EQ(by_version.cells(0).factors().at("dataset"), "qm9");
  EXPECT_EQ(by_version.cells(0).pairs(0).a(), "1");
  EXPECT_NEAR(by_version.cells(0).pairs(0).ratio(), 0.5, kTolerance);

  const v1::CompareRunsResponse by_dataset = CompareBy("dataset");
  ASSERT_EQ(by_dataset.cells_size(), 2);
  ASSERT_EQ(by_dataset.cells(0).pairs_size(), 3);
  EXPECT_EQ(by_dataset.cells(0).pairs(0).a(), "aflow@3");
  EXPECT_EQ(by_dataset.cells(0).pairs(0).b(), "qm9@1");
  EXPECT_NEAR(by_dataset.cells(0).pairs(0).ratio(), 4, kTolerance);
  EXPECT_FALSE(by_dataset.cells(0).factors().contains("version"));
}

}  // namespace
}  // namespace packtrain::analysis
