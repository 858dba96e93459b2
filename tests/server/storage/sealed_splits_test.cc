// The contract of GraphStore: what is sealed, and its splits.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/storage/graph_store_conformance.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TYPED_TEST_SUITE(GraphStoreConformanceTest, Implementations);

// Edges between all nodes: ln(n) for each of n.
TYPED_TEST(GraphStoreConformanceTest, CountsDegreesOverTheNodesOfASplit) {
  v1::SealDatasetRequest request = SealAs("molecules");
  request.mutable_by_ids()->add_train("hydrogen");
  request.mutable_by_ids()->add_train("methane");
  const v1::Dataset dataset = this->MustImport(SampleMolecules(), request);
  ASSERT_EQ(dataset.splits_size(), 4);
  double all = 0;
  for (int n = 1; n <= 5; ++n) all += n * std::log(n);
  EXPECT_NEAR(dataset.splits(0).mean_log_degree(), all / 15, 1e-14);
  EXPECT_EQ(dataset.splits(1).name(), "train");
  EXPECT_NEAR(dataset.splits(1).mean_log_degree(), 5 * std::log(5) / 6, 1e-14);
  EXPECT_FALSE(dataset.splits(2).has_mean_log_degree()) << "nothing is in val";
}

TYPED_TEST(GraphStoreConformanceTest, SplitsByFractionsIntoAscendingSetsThatCoverAll) {
  this->MustImport(ManyMolecules(100), SealWithFractions("molecules", 800, 100, 100, 7));
  const auto dataset = this->store().Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  std::set<std::uint32_t> seen;
  for (const auto& [name, size] : {std::pair("train", 80u), std::pair("val", 10u), std::pair("test", 10u)}) {
    const std::vector<std::uint32_t> split = this->SplitOf(**dataset, name);
    EXPECT_THAT(split, SizeIs(size));
    EXPECT_TRUE(std::is_sorted(split.begin(), split.end()));
    seen.insert(split.begin(), split.end());
  }
  EXPECT_THAT(seen, SizeIs(100));
  EXPECT_THAT(this->SplitOf(**dataset, "all"), SizeIs(100));
  EXPECT_EQ((*dataset)->description().splits_size(), 4);
}

TYPED_TEST(GraphStoreConformanceTest, SplitsByIds) {
  v1::SealDatasetRequest request = SealAs("molecules");
  request.mutable_by_ids()->add_train("methane");
  request.mutable_by_ids()->add_train("hydrogen");
  request.mutable_by_ids()->add_test("water");
  this->MustImport(SampleMolecules(), request);
  const auto dataset = this->store().Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_THAT(this->SplitOf(**dataset, "train"), ElementsAre(0, 4));
  EXPECT_THAT(this->SplitOf(**dataset, "val"), IsEmpty());
  EXPECT_THAT(this->SplitOf(**dataset, "test"), ElementsAre(2));
}

TYPED_TEST(GraphStoreConformanceTest, RefusesASplitThatNamesAnUnknownGraph) {
  v1::SealDatasetRequest request = SealAs("molecules");
  request.mutable_by_ids()->add_train("benzene");
  EXPECT_THAT(Import(this->store(), SampleMolecules(), request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("benzene")));
}

TYPED_TEST(GraphStoreConformanceTest, RefusesASplitThatNamesAGraphTwice) {
  v1::SealDatasetRequest request = SealAs("molecules");
  request.mutable_by_ids()->add_train("water");
  request.mutable_by_ids()->add_test("water");
  EXPECT_THAT(Import(this->store(), SampleMolecules(), request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("water")));
}

TYPED_TEST(GraphStoreConformanceTest, RefusesFractionsThatDoNotAddUp) {
  EXPECT_THAT(Import(this->store(), SampleMolecules(), SealWithFractions("molecules", 800, 100, 101, 0)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1000")));
}

TYPED_TEST(GraphStoreConformanceTest, RefusesNamesThatDoNotFit) {
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a@b"), std::string("a/b"), std::string(129, 'a'),
        std::string("-a"), std::string(".a"), std::string("_a"), std::string("..")}) {
    EXPECT_THAT(Import(this->store(), SampleMolecules(), SealAs(name)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("128")))
        << name;
  }
  EXPECT_THAT(Import(this->store(), SampleMolecules(), SealAs("4.a_b-c")), IsOk());
}

TYPED_TEST(GraphStoreConformanceTest, ARefusedSealCanBeMadeAgain) {
  std::unique_ptr<DatasetWriter> writer = Stage(this->store(), SampleMolecules());
  EXPECT_THAT(writer->Seal(SealAs("")), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Seal(SealWithFractions("molecules", 800, 100, 101, 0)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Seal(SealWithFractions("molecules", 800, 100, 100, 0)), IsOk());
  EXPECT_THAT(Read(**this->store().Open("molecules"), {0, 1, 2, 3, 4}), IsOk());
}

TYPED_TEST(GraphStoreConformanceTest, RefusesToSealNothing) {
  EXPECT_THAT(Import(this->store(), {}, SealAs("molecules")), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TYPED_TEST(GraphStoreConformanceTest, RefusesARecordOfAnotherSchema) {
  v1::Schema schema = MoleculeSchema();
  schema.mutable_fields(1)->set_data_type(v1::DATA_TYPE_F64);
  const auto writer = this->store().NewDataset(schema);
  ASSERT_THAT(writer, IsOk());
  const std::string record = RecordOf(SampleMolecules()[2]);
  EXPECT_THAT((*writer)->Append(std::as_bytes(std::span(record))),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ((*writer)->graphs(), 0u);
}

TYPED_TEST(GraphStoreConformanceTest, RefusesASchemaThatBreaksARule) {
  v1::Schema schema = MoleculeSchema();
  schema.mutable_fields(0)->set_name("Z");
  EXPECT_THAT(this->store().NewDataset(schema), StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(GraphStoreConformanceTest, ShowsNothingOfAnImportBeforeItsSeal) {
  const std::unique_ptr<DatasetWriter> writer = Stage(this->store(), SampleMolecules());
  EXPECT_EQ(writer->graphs(), 5u);
  EXPECT_THAT(this->store().Open("molecules"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(*this->store().List(), IsEmpty());
  ASSERT_THAT(writer->Seal(SealAs("molecules")), IsOk());
  EXPECT_THAT(this->store().Open("molecules"), IsOk());
  EXPECT_THAT(*this->store().List(), SizeIs(1));
}

TYPED_TEST(GraphStoreConformanceTest, AnotherSplitIsAnotherVersion) {
  const std::vector<Molecule> molecules = ManyMolecules(50);
  const v1::Dataset whole = this->MustImport(molecules, SealAs("molecules"));
  const v1::Dataset one = this->MustImport(molecules, SealWithFractions("molecules", 800, 100, 100, 1));
  const v1::Dataset two = this->MustImport(molecules, SealWithFractions("molecules", 800, 100, 100, 2));
  EXPECT_EQ(std::set({whole.version(), one.version(), two.version()}).size(), 3u);
}

TYPED_TEST(GraphStoreConformanceTest, AnUnknownSplitListsThoseThereAre) {
  this->MustImport(ManyMolecules(20), SealWithFractions("molecules", 800, 100, 100, 0));
  EXPECT_THAT((*this->store().Open("molecules"))->Split("holdout"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("all, train, val, test")));
}

}  // namespace
}  // namespace packtrain::storage
