// The contract of GraphStore: names and versions, their lists, and deletion.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/storage/graph_store_conformance.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TYPED_TEST_SUITE(GraphStoreConformanceTest, Implementations);

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

}  // namespace
}  // namespace packtrain::storage
