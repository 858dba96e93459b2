// The contract of GraphStore: what an open data set says and reads.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/server/storage/graph_store_conformance.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::Chain;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::RenumberedChainSchema;
using ::packtrain::testing::RenumberedRecordOf;
using ::packtrain::testing::SampleChains;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TYPED_TEST_SUITE(GraphStoreConformanceTest, Implementations);

TYPED_TEST(GraphStoreConformanceTest, ReadsBackWhatWasStoredInAnyOrderAndTwice) {
  const std::vector<Molecule> molecules = ManyMolecules(700);
  this->MustImport(molecules, SealAs("molecules"));
  const auto dataset = this->store().Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  std::vector<std::uint32_t> graphs(molecules.size());
  std::iota(graphs.rbegin(), graphs.rend(), 0);
  graphs.push_back(17);
  graphs.push_back(17);
  const auto records = Read(**dataset, graphs);
  ASSERT_THAT(records, IsOk());
  for (std::size_t k = 0; k < graphs.size(); ++k) EXPECT_EQ((*records)[k], RecordOf(molecules[graphs[k]]));
}

TYPED_TEST(GraphStoreConformanceTest, DescribesItsGraphs) {
  const v1::Dataset dataset = this->MustImport(SampleMolecules(), SealAs("molecules"));
  EXPECT_EQ(dataset.name(), "molecules");
  EXPECT_THAT(dataset.version(), SizeIs(16));
  EXPECT_EQ(dataset.graphs(), 5u);
  EXPECT_EQ(dataset.nodes().total(), 15u);
  EXPECT_EQ(dataset.nodes().mean(), 3.0);
  EXPECT_EQ(dataset.nodes().p50(), 3u);
  EXPECT_EQ(dataset.nodes().p99(), 5u);
  EXPECT_EQ(dataset.nodes().max(), 5u);
  EXPECT_EQ(dataset.nodes().histogram_size(), 5);
  EXPECT_EQ(dataset.edges().total(), 0u + 2 + 6 + 12 + 20);
  EXPECT_THAT(dataset.classes(), ElementsAre(1, 6, 7, 8));
  std::uint64_t bytes = 0;
  for (const Molecule& molecule : SampleMolecules()) bytes += RecordOf(molecule).size();
  EXPECT_EQ(dataset.bytes(), bytes);
}

TYPED_TEST(GraphStoreConformanceTest, DescribesBothBandwidthsOfRenumberedGraphs) {
  const auto writer = this->store().NewDataset(RenumberedChainSchema());
  ASSERT_THAT(writer, IsOk());
  std::vector<std::string> stored;
  for (const Chain& chain : SampleChains()) {
    stored.push_back(RenumberedRecordOf(chain));
    ASSERT_THAT((*writer)->Append(std::as_bytes(std::span(stored.back()))), IsOk());
  }
  const auto sealed = (*writer)->Seal(SealAs("chains"));
  ASSERT_THAT(sealed, IsOk());
  const auto dataset = this->store().Open("chains");
  ASSERT_THAT(dataset, IsOk());
  const v1::Dataset& description = (*dataset)->description();
  EXPECT_EQ(description.SerializeAsString(), sealed->dataset.SerializeAsString());
  EXPECT_EQ(description.schema().renumbered(), v1::RENUMBERING_RCM);
  EXPECT_EQ(description.lineage().renumbered(), v1::RENUMBERING_RCM);
  EXPECT_EQ(description.bandwidth().max(), 1u);
  EXPECT_EQ(description.bandwidth().total(), 6u);
  EXPECT_EQ(description.bandwidth_as_read().max(), 7u);
  EXPECT_EQ(description.bandwidth_as_read().p50(), 4u);  // of 0, 1, 3, 4, 5, 7, 7
  EXPECT_EQ(description.bandwidth_as_read().total(), 27u);
  const auto records = Read(**dataset, {0, 1, 2, 3, 4, 5, 6});
  ASSERT_THAT(records, IsOk());
  EXPECT_EQ(*records, stored);
  EXPECT_THAT((*dataset)->bandwidth(), ElementsAre(0, 1, 1, 1, 1, 1, 1));
  const auto as_read = [&](const std::vector<std::uint32_t>& graphs) {
    return (*dataset)->ReadBandwidthsAsRead(graphs);
  };
  std::vector<std::uint32_t> expected;
  for (const Chain& chain : SampleChains()) expected.push_back(chain.BandwidthAsRead());
  EXPECT_EQ(as_read({0, 1, 2, 3, 4, 5, 6}).value(), expected);
  EXPECT_EQ(as_read({2, 5}).value(), (std::vector<std::uint32_t>{expected[2], expected[5]}));
  EXPECT_THAT(as_read({6, 7}), StatusIs(absl::StatusCode::kOutOfRange));
}

TYPED_TEST(GraphStoreConformanceTest, HasNoBandwidthOfOtherGraphs) {
  this->MustImport(SampleMolecules(), SealAs("molecules"));
  const auto dataset = this->store().Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_THAT((*dataset)->bandwidth(), ::testing::IsEmpty());
  EXPECT_THAT((*dataset)->ReadBandwidthsAsRead({}),
              StatusIs(absl::StatusCode::kFailedPrecondition, ::testing::HasSubstr("--renumber rcm")));
}

TYPED_TEST(GraphStoreConformanceTest, DescribesNoBandwidthOfOtherGraphs) {
  const v1::Dataset dataset = this->MustImport(SampleMolecules(), SealAs("molecules"));
  EXPECT_FALSE(dataset.has_bandwidth() || dataset.has_bandwidth_as_read());
  EXPECT_EQ(dataset.lineage().renumbered(), v1::RENUMBERING_UNSPECIFIED);
}

TYPED_TEST(GraphStoreConformanceTest, KeepsSizesInMemoryByGraph) {
  this->MustImport(SampleMolecules(), SealAs("molecules"));
  const auto dataset = this->store().Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_THAT((*dataset)->n_node(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT((*dataset)->n_edge(), ElementsAre(0, 2, 6, 12, 20));
}

TYPED_TEST(GraphStoreConformanceTest, CountsStatisticsOverThoseThatHaveTheTarget) {
  std::vector<Molecule> molecules = SampleMolecules();
  molecules[0].energy = std::numeric_limits<double>::quiet_NaN();
  molecules.resize(3);
  const v1::Dataset dataset = this->MustImport(molecules, SealAs("molecules"));
  const v1::TargetStatistics& energy = dataset.splits(0).targets(0);
  EXPECT_EQ(energy.target(), "energy");
  EXPECT_EQ(energy.count(), 2u);
  EXPECT_DOUBLE_EQ(energy.mean(), (-4.75 - 10.08) / 2);
  EXPECT_DOUBLE_EQ(energy.stddev(), (10.08 - 4.75) / 2);
  EXPECT_DOUBLE_EQ(energy.median(), (-4.75 - 10.08) / 2);
}

TYPED_TEST(GraphStoreConformanceTest, TheMedianIsTheValueInTheMiddleOrTheMeanOfTwo) {
  std::vector<Molecule> molecules = SampleMolecules();
  const std::vector<double> energies = {7, -1, 100, 3, std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t i = 0; i < energies.size(); ++i) molecules[i].energy = energies[i];
  v1::SealDatasetRequest request = SealAs("molecules");
  for (const std::size_t i : {0, 1, 2}) request.mutable_by_ids()->add_train(molecules[i].id);
  request.mutable_by_ids()->add_val(molecules[4].id);
  const v1::Dataset dataset = this->MustImport(molecules, request);
  EXPECT_EQ(dataset.splits(0).targets(0).median(), 5);
  EXPECT_EQ(dataset.splits(1).targets(0).median(), 7);
  EXPECT_FALSE(dataset.splits(2).targets(0).has_median()) << "no graph of val has the target";
}

TYPED_TEST(GraphStoreConformanceTest, ReadingPastTheEndIsOutOfRange) {
  this->MustImport(SampleMolecules(), SealAs("molecules"));
  EXPECT_THAT(Read(**this->store().Open("molecules"), {0, 5}), StatusIs(absl::StatusCode::kOutOfRange));
}

TYPED_TEST(GraphStoreConformanceTest, AFailingSinkEndsTheReadWithItsStatus) {
  this->MustImport(SampleMolecules(), SealAs("molecules"));
  const auto dataset = this->store().Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  int calls = 0;
  const std::vector<std::uint32_t> graphs = {0, 1, 2};
  const absl::Status status = (*dataset)->ReadRecords(graphs, [&](std::size_t, const records::RecordView&) {
    ++calls;
    return absl::CancelledError("enough");
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, HasSubstr("enough")));
  EXPECT_EQ(calls, 1);
}

TYPED_TEST(GraphStoreConformanceTest, AScanBringsEveryRecordInOrder) {
  const std::vector<Molecule> molecules = ManyMolecules(700);
  this->MustImport(SampleMolecules(), SealAs("before"));
  this->MustImport(molecules, SealAs("molecules"));
  this->MustImport(ManyMolecules(3), SealAs("behind"));
  std::size_t next = 0;
  const auto check = [&](std::size_t graph, const records::RecordView& record) {
    EXPECT_EQ(graph, next++);
    const std::string_view bytes(reinterpret_cast<const char*>(record.bytes().data()), record.bytes().size());
    EXPECT_EQ(bytes, RecordOf(molecules[graph]));
    return absl::OkStatus();
  };
  EXPECT_THAT((*this->store().Open("molecules"))->ScanRecords(check), IsOk());
  EXPECT_EQ(next, molecules.size());
}

TYPED_TEST(GraphStoreConformanceTest, AFailingSinkEndsTheScanWithItsStatus) {
  this->MustImport(SampleMolecules(), SealAs("molecules"));
  const auto fail_at_2 = [](std::size_t graph, const records::RecordView&) {
    return graph == 2 ? absl::CancelledError("enough") : absl::OkStatus();
  };
  EXPECT_THAT((*this->store().Open("molecules"))->ScanRecords(fail_at_2),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("enough")));
}

TYPED_TEST(GraphStoreConformanceTest, ReadsNothingWhenAskedForNothing) {
  this->MustImport(SampleMolecules(), SealAs("molecules"));
  EXPECT_THAT(*Read(**this->store().Open("molecules"), {}), IsEmpty());
}

TYPED_TEST(GraphStoreConformanceTest, AnOpenDatasetIsCountedInMemory) {
  const std::uint64_t before = this->store().memory_bytes();
  this->MustImport(ManyMolecules(1000), SealAs("molecules"));
  const auto dataset = this->store().Open("molecules");
  EXPECT_GE(this->store().memory_bytes(), before + 1000 * 2 * sizeof(std::uint32_t));
}

TYPED_TEST(GraphStoreConformanceTest, AnOpenDatasetOutlivesItsStore) {
  std::shared_ptr<const Dataset> dataset;
  TypeParam other;
  ASSERT_THAT(Import(other.store, SampleMolecules(), SealAs("molecules")), IsOk());
  dataset = *other.store.Open("molecules");
  if constexpr (std::is_same_v<TypeParam, Rocks>) other.opened.reset();
  EXPECT_EQ((*Read(*dataset, {2}))[0], RecordOf(SampleMolecules()[2]));
}

}  // namespace
}  // namespace packtrain::storage
