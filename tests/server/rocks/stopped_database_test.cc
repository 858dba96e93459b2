#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rocks/database.h"
#include "server/rocks/sorted_files.h"
#include "tests/server/rocks/database_testing.h"
#include "tests/testing/faulty_disk.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::rocks {
namespace {

using ::packtrain::testing::Duration;
using ::packtrain::testing::Fault;
using ::packtrain::testing::FaultyDisk;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::packtrain::testing::TempFolder;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

// A database on a disk that fails.
class StoppedDatabaseTest : public DatabaseTest {
 protected:
  StoppedDatabaseTest() { Reopen(Options()); }
  ~StoppedDatabaseTest() override {
    writer_.reset();
    database_.reset();
  }

  DatabaseOptions Options() { return {.reserve_bytes = 0, .env = disk_.env()}; }

  // A failing disk stops RocksDB, and is well again.
  void Stop() {
    disk_.Fail(0, Fault::kNoSpace, Duration::kUntilHealed);
    EXPECT_THAT(Put("lost", "1"), StatusIs(absl::StatusCode::kResourceExhausted));
    disk_.Heal();
  }

  FaultyDisk disk_;
};

TEST_F(StoppedDatabaseTest, WhatWasWrittenIsThereAndWritesGoOnOnceTheDiskIsWell) {
  EXPECT_THAT(Put("a", "1"), IsOk());
  Stop();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_THAT(Put("b", "1", Durability::kFile), IsOk());
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "1");
  Reopen(Options());
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "1");
}

TEST_F(StoppedDatabaseTest, AWriteIsMadeThoughAnyOneOperationOfItFails) {
  std::vector<std::string> failures;
  for (const Durability durability : {Durability::kProcess, Durability::kDisk, Durability::kFile}) {
    for (std::uint64_t n = 0;; ++n) {
      const std::string key = absl::StrCat("key ", durability, " ", n);
      disk_.Fail(n, Fault::kIoError, Duration::kOnce);
      EXPECT_THAT(Put(key, "1", durability), IsOk());
      const std::string failed = disk_.Failed();
      disk_.Heal();
      EXPECT_EQ(Get(key), "1") << failed;
      if (failed.empty()) break;
      failures.push_back(failed);
      Reopen(Options());
      EXPECT_EQ(Get(key), "1") << failed;
    }
  }
  EXPECT_THAT(failures, Contains(ContainsRegex("^write .*\\.log$")));
  EXPECT_THAT(failures, Contains(ContainsRegex("^sync .*\\.log$")));
}

TEST_F(StoppedDatabaseTest, AWriteThatFailsForGoodIsWholeOrNotThereOnceTheDiskIsWell) {
  for (std::uint64_t n = 0;; ++n) {
    const std::string a = absl::StrCat("a", n), b = absl::StrCat("b", n);
    disk_.Fail(n, Fault::kIoError, Duration::kUntilHealed);
    const bool written =
        database_->Write({{Family::kWords, a, "1"}, {Family::kWords, b, "1"}}, Durability::kDisk).ok();
    const bool failed = !disk_.Failed().empty();
    disk_.Heal();
    EXPECT_THAT(Put("later", "1"), IsOk());
    EXPECT_EQ(Get(a), Get(b));
    if (written) {
      EXPECT_EQ(Get(a), "1");
    }
    if (!failed) return;
    Reopen(Options());
    EXPECT_EQ(Get(a), Get(b));
  }
}

TEST_F(StoppedDatabaseTest, ReadsGoOnWhileTheDiskIsFull) {
  EXPECT_THAT(Put("a", "1"), IsOk());
  disk_.Fail(0, Fault::kNoSpace, Duration::kUntilHealed);
  for (int k = 0; k < 3; ++k) {
    EXPECT_THAT(Put("b", "1"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("disk full")));
    EXPECT_EQ(Get("a"), "1");
    EXPECT_THAT(Scan(Family::kWords, "a"), SizeIs(1));
  }
  disk_.Heal();
  EXPECT_THAT(Put("b", "1"), IsOk());
}

TEST_F(StoppedDatabaseTest, AnIngestIsTakenInWhoseFilesWereBegunBefore) {
  writer_ = std::make_unique<SortedFileWriter>(database_, Family::kFiles, folder_.PathOf("staged"), 1 << 20);
  EXPECT_THAT(writer_->Add("a", kLongValue), IsOk());
  Stop();
  EXPECT_THAT(Put("b", "1"), IsOk());
  EXPECT_THAT(writer_->Add("b", kLongValue), IsOk());
  EXPECT_THAT(Ingest(*database_, writer_->Finish().value()), IsOk());
  EXPECT_THAT(Scan(Family::kFiles, ""), SizeIs(2));
  writer_.reset();  // which holds the database open
  Reopen(Options());
  EXPECT_THAT(Scan(Family::kFiles, ""), SizeIs(2));
}

TEST_F(StoppedDatabaseTest, AScanGoesOnWhereItBeganBeforeTheDatabaseWasOpenedAgain) {
  for (const char* key : {"a", "b", "c"}) EXPECT_THAT(Put(key, "1", Durability::kFile), IsOk());
  std::vector<std::string> seen;
  const absl::Status scanned = database_->Scan(Family::kWords, "", [&](std::string_view key, std::string_view) {
    if (seen.empty()) {
      Stop();
      EXPECT_THAT(Put("b2", "1", Durability::kFile), IsOk());
      EXPECT_THAT(database_->DropRange(Family::kWords, "a", "c"), IsOk());
    }
    seen.emplace_back(key);
    return absl::OkStatus();
  });
  EXPECT_THAT(scanned, IsOk());
  EXPECT_THAT(seen, ElementsAre("a", "b", "c"));
  EXPECT_THAT(Scan(Family::kWords, ""), ElementsAre(Pair("c", "1")));
  Reopen(Options());
  EXPECT_THAT(Scan(Family::kWords, ""), ElementsAre(Pair("c", "1")));
}

TEST_F(StoppedDatabaseTest, AStartOnAFullDiskReadsAndWritesOnceThereIsSpace) {
  EXPECT_THAT(Put("a", "1"), IsOk());
  database_.reset();
  disk_.FailWrites();
  Reopen(Options());
  EXPECT_EQ(Get("a"), "1");
  EXPECT_THAT(Put("b", "1"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("disk full")));
  disk_.Heal();
  EXPECT_THAT(Put("b", "1"), IsOk());
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(StoppedDatabaseTest, AStartOnAFullDiskWithoutADatabaseSaysThatItIsFull) {
  const TempFolder empty;
  disk_.FailWrites();
  EXPECT_THAT(Database::Open(empty.PathOf(""), Layout(), Options()).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("disk full")));
  disk_.Heal();
}

}  // namespace
}  // namespace packtrain::rocks
