#include "server/storage/sealed_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server/rocks/check_report.h"
#include "server/storage/fsck.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SealedListTest : public ::testing::Test {
 protected:
  void Open() {
    store_.reset();
    auto store = RocksGraphStore::Open(folder_.path(), {});
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  std::string Seal(const char* name, std::uint32_t graphs) {
    return Import(*store_, ManyMolecules(graphs), SealAs(name))->dataset.version();
  }

  fs::path db() const { return RocksGraphStore::DatabaseFolder(folder_.path()); }
  fs::path list() const { return SealedList::FileIn(folder_.path()); }

  fs::path Manifest() const {
    std::string name;
    std::getline(std::ifstream(db() / "CURRENT") >> std::ws, name);
    return db() / name;
  }

  // Opens a store whose manifest has lost its end: what `seal` did.
  template <typename Step>
  void OpenWithoutTheEnd(Step seal) {
    const fs::path manifest = Manifest();
    const std::uintmax_t bytes = fs::file_size(manifest);
    seal();
    store_.reset();
    fs::resize_file(manifest, bytes);
    Open();
  }

  std::vector<std::string> ListedNames() const {
    std::vector<std::string> names;
    const std::vector<v1::Dataset> listed = store_->List().value();
    for (const v1::Dataset& dataset : listed) names.push_back(dataset.name());
    return names;
  }

  // What a check finds of the data sets, in use and then closed.
  static std::vector<std::string> DatasetsIn(const std::vector<v1::FsckFinding>& findings) {
    std::vector<std::string> datasets;
    for (const v1::FsckFinding& finding : findings) datasets.push_back(finding.dataset());
    return datasets;
  }
  template <typename Check>
  static std::vector<std::string> Found(Check check) {
    std::vector<v1::FsckFinding> findings;
    const auto take = [&](const v1::FsckResponse& event) {
      if (event.has_finding()) findings.push_back(event.finding());
      return absl::OkStatus();
    };
    rocks::CheckReport report(take);
    EXPECT_THAT(check(report), IsOk());
    return DatasetsIn(findings);
  }

  const TemporaryFolder folder_;
  std::unique_ptr<RocksGraphStore> store_;
};

TEST_F(SealedListTest, ADataSetThatTheManifestHasLostIsDataLossByNameAndWholeOnesAreServed) {
  Open();
  Seal("whole", 9);
  std::string version;
  OpenWithoutTheEnd([&] { version = Seal("lost", 5); });
  const std::string lost = "lost@" + version;
  EXPECT_THAT(store_->Open("lost"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(lost)));
  EXPECT_THAT(store_->Open(lost), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(lost)));
  EXPECT_THAT(Read(**store_->Open("whole"), {0, 8}), IsOk());
  EXPECT_THAT(ListedNames(), ElementsAre("whole"));
  EXPECT_THAT(store_->Lost(""), SizeIs(1));
  EXPECT_EQ(store_->Lost("lost").front().graphs(), 5u);
  EXPECT_THAT(store_->Lost("whole"), IsEmpty());
  EXPECT_THAT(Found([&](rocks::CheckReport& report) { return Fsck(*store_, report); }), ElementsAre(lost));
  store_.reset();
  const auto database = *OpenGraphDatabaseForCheck(db());
  EXPECT_THAT(Found([&](rocks::CheckReport& report) { return Fsck(database, list(), report); }),
              ElementsAre(lost));
}

TEST_F(SealedListTest, ALossIsKnownUntilItIsDeletedOrSealedAgain) {
  Open();
  std::string a, b;
  OpenWithoutTheEnd([&] {
    a = Seal("a", 5);
    b = Seal("b", 6);
  });
  std::vector<bool> told;
  store_->WatchLost([&](bool any_lost) { told.push_back(any_lost); });
  ASSERT_THAT(store_->Delete("a"), IsOk());
  EXPECT_THAT(store_->Open("a"), StatusIs(absl::StatusCode::kNotFound));
  Open();
  EXPECT_THAT(store_->Open("a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->Open("b"), StatusIs(absl::StatusCode::kDataLoss));
  store_->WatchLost([&](bool any_lost) { told.push_back(any_lost); });
  EXPECT_EQ(Seal("b", 6), b);
  EXPECT_THAT(Read(**store_->Open("b"), {5}), IsOk());
  EXPECT_THAT(told, ElementsAre(true, true, true, false));
  Open();
  EXPECT_THAT(store_->Lost(""), IsEmpty());
  EXPECT_THAT(store_->Delete("nobody"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SealedListTest, AnOlderVersionIsNotServedUnderTheNameOfALostOne) {
  Open();
  const std::string older = Seal("a", 5);
  std::string lost;
  OpenWithoutTheEnd([&] { lost = Seal("a", 6); });
  EXPECT_THAT(store_->Open("a"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(lost)));
  EXPECT_THAT(store_->Open("a@" + older), IsOk());
  EXPECT_THAT(ListedNames(), IsEmpty());
  ASSERT_THAT(store_->Delete("a@" + lost), IsOk());
  EXPECT_EQ((*store_->Open("a"))->description().version(), older);
  EXPECT_THAT(ListedNames(), ElementsAre("a"));
}

TEST_F(SealedListTest, AKillBetweenASealAndTheListIsNoLoss) {
  Open();
  Seal("a", 5);
  const fs::path before = folder_.path() / "before";
  fs::copy_file(list(), before);
  Seal("b", 6);
  store_.reset();
  fs::rename(before, list());
  Open();
  EXPECT_THAT(store_->Lost(""), IsEmpty());
  EXPECT_THAT(ListedNames(), ElementsAre("a", "b"));
}

TEST_F(SealedListTest, AKillBetweenTheListAndADeletionLeavesTheDataSet) {
  Open();
  Seal("a", 5);
  Seal("b", 6);
  store_.reset();
  const TemporaryFolder copy;
  fs::copy(db(), copy.path(), fs::copy_options::recursive);
  Open();
  ASSERT_THAT(store_->Delete("b"), IsOk());
  store_.reset();
  fs::remove_all(db());
  fs::copy(copy.path(), db(), fs::copy_options::recursive);
  Open();
  EXPECT_THAT(store_->Lost(""), IsEmpty());
  EXPECT_THAT(ListedNames(), ElementsAre("a", "b"));
}

TEST_F(SealedListTest, AStoreWithoutAListGetsOneAtItsFirstStart) {
  Open();
  Seal("a", 5);
  store_.reset();
  fs::remove(list());
  Open();
  EXPECT_THAT(ListedNames(), ElementsAre("a"));
  OpenWithoutTheEnd([&] { Seal("b", 6); });
  EXPECT_THAT(store_->Open("a"), IsOk());
  EXPECT_THAT(store_->Open("b"), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(SealedListTest, WhatIsNoFileInThePlaceOfTheListHoldsNoStartUp) {
  Open();
  const std::string version = Seal("first", 3);
  store_.reset();
  for (const auto& put_there : {+[](const fs::path& list) { return ::mkfifo(list.c_str(), 0600); },
                                +[](const fs::path& list) { return ::mkdir(list.c_str(), 0700); }}) {
    fs::remove(list());
    ASSERT_EQ(put_there(list()), 0);
    Open();
    EXPECT_THAT(store_->Open("first@" + version), IsOk());
    store_.reset();
  }
}

TEST_F(SealedListTest, ADamagedListIsFoundByACheckAndMadeAgain) {
  Open();
  Seal("a", 5);
  store_.reset();
  std::fstream(list(), std::ios::in | std::ios::out).seekp(30).put('!');
  const auto check = [&](rocks::CheckReport& report) {
    return Fsck(*OpenGraphDatabaseForCheck(db()), list(), report);
  };
  EXPECT_THAT(Found(check), SizeIs(1));
  Open();
  EXPECT_THAT(ListedNames(), ElementsAre("a"));
  store_.reset();
  EXPECT_THAT(Found(check), IsEmpty());
}

}  // namespace
}  // namespace packtrain::storage
