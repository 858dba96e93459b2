// What graph_store.h promises, on every implementation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::FakeGraphStore;
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

struct Fake {
  FakeGraphStore store;
};

struct Rocks {
  TemporaryFolder folder;
  std::unique_ptr<RocksGraphStore> opened = RocksGraphStore::Open(folder.path(), {}).value();
  RocksGraphStore& store = *opened;
};

template <typename Implementation>
class GraphStoreConformanceTest : public ::testing::Test {
 protected:
  GraphStore& store() { return implementation_.store; }

  v1::Dataset MustImport(std::span<const Molecule> molecules, const v1::SealDatasetRequest& request) {
    const auto result = Import(store(), molecules, request);
    EXPECT_THAT(result, IsOk());
    return result->dataset;
  }

  std::vector<std::uint32_t> SplitOf(const Dataset& dataset, std::string_view name) {
    const auto split = dataset.Split(name);
    EXPECT_THAT(split, IsOk());
    return {split->begin(), split->end()};
  }

 private:
  Implementation implementation_;
};

using Implementations = ::testing::Types<Fake, Rocks>;
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

TYPED_TEST(GraphStoreConformanceTest, EqualContentUnderTheSameNameIsUnchanged) {
  const v1::Dataset first = this->MustImport(SampleMolecules(), SealAs("molecules"));
  v1::SealDatasetRequest again = SealAs("molecules");
  again.mutable_lineage()->set_command("another command");
  const auto second = Import(this->store(), SampleMolecules(), again);
  ASSERT_THAT(second, IsOk());
  EXPECT_TRUE(second->unchanged);
  EXPECT_EQ(second->dataset.version(), first.version());
  EXPECT_THAT(*this->store().List(), SizeIs(1));
}

TYPED_TEST(GraphStoreConformanceTest, EqualContentUnderAnotherNameHasTheSameVersion) {
  const v1::Dataset first = this->MustImport(SampleMolecules(), SealAs("a"));
  const auto second = Import(this->store(), SampleMolecules(), SealAs("b"));
  ASSERT_THAT(second, IsOk());
  EXPECT_FALSE(second->unchanged);
  EXPECT_EQ(second->dataset.version(), first.version());
  const auto opened = this->store().Open("b");
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ((*Read(**opened, {3}))[0], RecordOf(SampleMolecules()[3]));
}

TYPED_TEST(GraphStoreConformanceTest, VersionIsAFunctionOfContent) {
  const std::string version = this->MustImport(SampleMolecules(), SealAs("a")).version();
  TypeParam other;
  EXPECT_EQ(Import(other.store, SampleMolecules(), SealAs("a"))->dataset.version(), version);

  std::vector<Molecule> reordered = SampleMolecules();
  std::swap(reordered[0], reordered[1]);
  EXPECT_NE(this->MustImport(reordered, SealAs("a")).version(), version);
  std::vector<Molecule> nudged = SampleMolecules();
  nudged[4].energy = std::nextafter(nudged[4].energy, 0.0);
  EXPECT_NE(this->MustImport(nudged, SealAs("a")).version(), version);
}

TYPED_TEST(GraphStoreConformanceTest, WhatIsDeletedIsOnNoListAndUnderNoName) {
  const v1::Dataset kept = this->MustImport(SampleMolecules(), SealAs("kept"));
  const v1::Dataset gone = this->MustImport(ManyMolecules(9), SealAs("gone"));
  const auto deleted = this->store().Delete("gone");
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(deleted->front().version(), gone.version());
  EXPECT_THAT(this->store().Open("gone"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(this->store().Versions("gone"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(this->store().Delete("gone"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(*this->store().List(), SizeIs(1));
  EXPECT_THAT(*this->store().Deleted(), ElementsAre("gone@" + gone.version()));
  ASSERT_THAT(this->store().Reclaim("gone@" + gone.version()), IsOk());
  EXPECT_THAT(this->store().Reclaim("gone@" + gone.version()), IsOk());
  EXPECT_THAT(*this->store().Deleted(), IsEmpty());
  EXPECT_THAT(this->store().Open("gone@" + gone.version()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Read(**this->store().Open("kept"), {4}), IsOk());
}

TYPED_TEST(GraphStoreConformanceTest, WhatIsDeletedOpensByVersionUntilItIsReclaimed) {
  const v1::Dataset gone = this->MustImport(ManyMolecules(9), SealAs("gone"));
  const std::string name = "gone@" + gone.version();
  ASSERT_THAT(this->store().Delete("gone"), IsOk());
  auto open = this->store().Open(name);
  ASSERT_THAT(open, IsOk());
  EXPECT_THAT(this->store().Reclaim(name), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(name)));
  EXPECT_THAT(Read(**open, {8}), IsOk());
  open = absl::CancelledError("closed");
  EXPECT_THAT(this->store().Reclaim(name), IsOk());
}

TYPED_TEST(GraphStoreConformanceTest, ANameMeansTheVersionImportedLastOfThoseLeft) {
  std::vector<std::string> versions;
  for (const std::uint32_t graphs : {7, 8, 9}) {
    v1::SealDatasetRequest seal = SealAs("molecules");
    seal.mutable_lineage()->set_imported_at_ms(graphs);
    versions.push_back(this->MustImport(ManyMolecules(graphs), seal).version());
  }
  EXPECT_THAT(*this->store().Versions("molecules"), SizeIs(3));
  EXPECT_THAT(*this->store().Versions("molecules@" + versions[0]), SizeIs(1));
  const auto current = [&] { return (*this->store().Open("molecules"))->description().version(); };
  ASSERT_THAT(this->store().Delete("molecules@" + versions[0]), IsOk());
  EXPECT_EQ(current(), versions[2]);
  ASSERT_THAT(this->store().Delete("molecules@" + versions[2]), IsOk());
  EXPECT_EQ(current(), versions[1]);
  ASSERT_THAT(this->store().Delete("molecules@" + versions[1]), IsOk());
  EXPECT_THAT(this->store().Open("molecules"), StatusIs(absl::StatusCode::kNotFound));
}

TYPED_TEST(GraphStoreConformanceTest, AVersionCanBeMadeCurrent) {
  const std::string first = this->MustImport(ManyMolecules(7), SealAs("molecules")).version();
  this->MustImport(ManyMolecules(8), SealAs("molecules"));
  ASSERT_THAT(this->store().MakeCurrent("molecules@" + first), IsOk());
  EXPECT_EQ((*this->store().Open("molecules"))->description().version(), first);
  EXPECT_THAT(this->store().MakeCurrent("molecules@0123456789abcdef"), StatusIs(absl::StatusCode::kNotFound));
}

TYPED_TEST(GraphStoreConformanceTest, WhatSharesItsGraphsOutlivesADeletion) {
  const v1::SealDatasetRequest request = SealWithFractions("a", 800, 100, 100, 7);
  const std::string version = this->MustImport(ManyMolecules(50), request).version();
  this->MustImport(ManyMolecules(50), SealWithFractions("b", 800, 100, 100, 7));
  this->MustImport(ManyMolecules(50), SealAs("c"));
  ASSERT_THAT(this->store().Delete("a"), IsOk());
  ASSERT_THAT(this->store().Reclaim("a@" + version), IsOk());
  for (const char* name : {"b", "c"}) {
    const auto dataset = this->store().Open(name);
    ASSERT_THAT(dataset, IsOk());
    EXPECT_THAT(Read(**dataset, {49}), IsOk());
  }
  EXPECT_THAT(this->SplitOf(**this->store().Open("b"), "train"), SizeIs(40));
}

TYPED_TEST(GraphStoreConformanceTest, SealedAgainADeletedVersionIsThereAsBefore) {
  const std::string name = "a@" + this->MustImport(ManyMolecules(50), SealAs("a")).version();
  for (const bool reclaimed : {false, true}) {
    ASSERT_THAT(this->store().Delete("a"), IsOk());
    if (reclaimed) this->store().Reclaim(name).IgnoreError();
    this->MustImport(ManyMolecules(50), SealAs("a"));
    ASSERT_THAT(this->store().Reclaim(name), IsOk());
    EXPECT_THAT(*this->store().Deleted(), IsEmpty());
    EXPECT_THAT(Read(**this->store().Open("a"), {49}), IsOk());
  }
}

TYPED_TEST(GraphStoreConformanceTest, AnotherSplitIsAnotherVersion) {
  const std::vector<Molecule> molecules = ManyMolecules(50);
  const v1::Dataset whole = this->MustImport(molecules, SealAs("molecules"));
  const v1::Dataset one = this->MustImport(molecules, SealWithFractions("molecules", 800, 100, 100, 1));
  const v1::Dataset two = this->MustImport(molecules, SealWithFractions("molecules", 800, 100, 100, 2));
  EXPECT_EQ(std::set({whole.version(), one.version(), two.version()}).size(), 3u);
}

TYPED_TEST(GraphStoreConformanceTest, OldVersionsStayReadable) {
  const v1::Dataset old = this->MustImport(SampleMolecules(), SealAs("molecules"));
  const v1::Dataset newer = this->MustImport(ManyMolecules(9), SealAs("molecules"));
  const auto opened_old = this->store().Open(absl::StrCat("molecules@", old.version()));
  ASSERT_THAT(opened_old, IsOk());
  EXPECT_EQ((*opened_old)->description().graphs(), 5u);
  EXPECT_EQ((*Read(**opened_old, {4}))[0], RecordOf(SampleMolecules()[4]));
  const auto opened = this->store().Open("molecules");
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ((*opened)->description().version(), newer.version());
}

TYPED_TEST(GraphStoreConformanceTest, ImportingOldContentAgainMovesTheNameBack) {
  const v1::Dataset old = this->MustImport(SampleMolecules(), SealAs("molecules"));
  this->MustImport(ManyMolecules(9), SealAs("molecules"));
  const auto again = Import(this->store(), SampleMolecules(), SealAs("molecules"));
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->unchanged);
  EXPECT_EQ((*this->store().Open("molecules"))->description().version(), old.version());
}

TYPED_TEST(GraphStoreConformanceTest, ListsCurrentVersionsByName) {
  this->MustImport(SampleMolecules(), SealAs("b"));
  this->MustImport(ManyMolecules(9), SealAs("b"));
  this->MustImport(SampleMolecules(), SealAs("a"));
  const auto list = this->store().List();
  ASSERT_THAT(list, IsOk());
  ASSERT_THAT(*list, SizeIs(2));
  EXPECT_EQ((*list)[0].name(), "a");
  EXPECT_EQ((*list)[1].name(), "b");
  EXPECT_EQ((*list)[1].graphs(), 9u);
  EXPECT_EQ((*list)[0].nodes().histogram_size(), 5);
  EXPECT_EQ((*list)[0].nodes().total(), 15u);
}

// NAME or NAME@VERSION of what a list gives from behind `after` on, up to `most`.
template <typename List>
std::vector<std::string> ListedAfter(const std::string& after, std::size_t most, List list) {
  std::vector<std::string> listed;
  EXPECT_THAT(list(after,
                   [&](const v1::Dataset& dataset) {
                     listed.push_back(dataset.name() + "@" + dataset.version());
                     return listed.size() < most;
                   }),
              IsOk());
  return listed;
}

TYPED_TEST(GraphStoreConformanceTest, AListGoesOnBehindAnyOfItsItemsAndEndsWhenItIsToldTo) {
  std::vector<std::string> current, versions;
  for (const std::string name : {"a", "a-b", "a.c", "b"}) {
    versions.push_back(name + "@" + this->MustImport(SampleMolecules(), SealAs(name)).version());
    current.push_back(name + "@" + this->MustImport(ManyMolecules(9), SealAs(name)).version());
    versions.push_back(current.back());
  }
  std::ranges::sort(versions);
  const auto names = [this](std::string_view after, auto sink) { return this->store().ListAfter(after, sink); };
  const auto all = [this](std::string_view after, auto sink) {
    return this->store().ListVersionsAfter(after, sink);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(ListedAfter("", 100, names), current);
  EXPECT_EQ(ListedAfter("a", 2, names), Names({current[1], current[2]}));
  EXPECT_EQ(ListedAfter("a-", 1, names), Names({current[1]}));
  EXPECT_EQ(ListedAfter("b", 1, names), Names());
  EXPECT_EQ(ListedAfter("", 100, all), versions);
  for (std::size_t k = 0; k < versions.size(); ++k) {
    EXPECT_EQ(ListedAfter(versions[k], 3, all),
              Names(versions.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                    versions.begin() + static_cast<std::ptrdiff_t>(std::min(k + 4, versions.size()))));
  }
}

TYPED_TEST(GraphStoreConformanceTest, UnknownNamesAndVersionsAreNotFound) {
  this->MustImport(SampleMolecules(), SealAs("molecules"));
  EXPECT_THAT(this->store().Open("proteins"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("proteins")));
  EXPECT_THAT(this->store().Open("molecules@0123456789abcdef"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("0123456789abcdef")));
  EXPECT_THAT(this->store().Open("molecules@"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(this->store().Open(""), StatusIs(absl::StatusCode::kNotFound));
}

TYPED_TEST(GraphStoreConformanceTest, AnUnknownSplitListsThoseThereAre) {
  this->MustImport(ManyMolecules(20), SealWithFractions("molecules", 800, 100, 100, 0));
  EXPECT_THAT((*this->store().Open("molecules"))->Split("holdout"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("all, train, val, test")));
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
