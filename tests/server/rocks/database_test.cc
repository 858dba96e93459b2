#include "server/rocks/database.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/rocks/database_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::rocks {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST_F(DatabaseTest, AKeyHasItsLastValueAndNoneOnceItIsRemoved) {
  EXPECT_EQ(Get("a"), std::nullopt);
  EXPECT_THAT(Put("a", "1"), IsOk());
  EXPECT_THAT(Put("a", "2"), IsOk());
  EXPECT_EQ(Get("a"), "2");
  EXPECT_THAT(
      database_->Write({{Family::kWords, "a", std::nullopt}, {Family::kWords, "b", ""}}, Durability::kDisk),
      IsOk());
  EXPECT_EQ(Get("a"), std::nullopt);
  EXPECT_EQ(Get("b"), "");
}

TEST_F(DatabaseTest, WhatWasWrittenIsThereInTheNextProcess) {
  for (const Durability durability : {Durability::kProcess, Durability::kDisk, Durability::kFile}) {
    EXPECT_THAT(Put(absl::StrCat("key ", durability), "value", durability), IsOk());
  }
  Reopen();
  EXPECT_THAT(Scan(Family::kWords, "key "), SizeIs(3));
}

TEST_F(DatabaseTest, AWriteToAFileLeavesNothingInTheLog) {
  EXPECT_TRUE(database_->sorted_files().empty());
  EXPECT_THAT(Put("a", "1", Durability::kDisk), IsOk());
  EXPECT_TRUE(database_->sorted_files().empty());
  EXPECT_THAT(Put("a", "2", Durability::kFile), IsOk());
  EXPECT_FALSE(database_->sorted_files().empty());
}

TEST_F(DatabaseTest, AScanGivesTheKeysOfItsPrefixAscendingAndEndsWithAFailure) {
  for (const char* key : {"b2", "a1", "b1", "c1"}) EXPECT_THAT(Put(key, "v"), IsOk());
  EXPECT_THAT(Scan(Family::kWords, "b"), ElementsAre(Pair("b1", "v"), Pair("b2", "v")));
  EXPECT_THAT(Scan(Family::kFiles, ""), IsEmpty());
  int visits = 0;
  const absl::Status ended = database_->Scan(Family::kWords, "", [&](std::string_view, std::string_view) {
    return ++visits == 2 ? absl::AbortedError("enough") : absl::OkStatus();
  });
  EXPECT_THAT(ended, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(visits, 2);
}

TEST_F(DatabaseTest, ASkipScanSeesTheKeysThatItAsksFor) {
  for (const char* key : {"a1", "a2", "a3", "b1", "b2", "c"}) EXPECT_THAT(Put(key, "v"), IsOk());
  std::vector<std::string> seen;
  const auto next_letter = [&](std::string_view key) -> absl::StatusOr<std::optional<std::string>> {
    seen.emplace_back(key);
    return std::string(1, static_cast<char>(key.front() + 1));
  };
  EXPECT_THAT(database_->SkipScan(Family::kWords, "", next_letter), IsOk());
  EXPECT_THAT(seen, ElementsAre("a1", "b1", "c"));
  seen.clear();
  EXPECT_THAT(database_->SkipScan(Family::kWords, "a", next_letter), IsOk());  // "b" has another prefix
  EXPECT_THAT(seen, ElementsAre("a1"));
  const auto fail = [](std::string_view) -> absl::StatusOr<std::optional<std::string>> {
    return absl::DataLossError("bad key");
  };
  EXPECT_THAT(database_->SkipScan(Family::kWords, "", fail), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(DatabaseTest, ManyKeysAreReadTogetherAndOneThatIsMissingIsNotFound) {
  std::vector<std::string> keys;
  for (int k = 1000; k < 1300; ++k) keys.push_back(absl::StrCat(k));
  for (const std::string& key : keys) EXPECT_THAT(Put(key, "value of " + key), IsOk());
  keys.insert(keys.begin() + 200, "1199x");
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::size_t expected = 0;
  const auto sink = [&](std::size_t k, const absl::StatusOr<std::string_view>& value) {
    EXPECT_EQ(k, expected++);
    if (k == 200) {
      EXPECT_THAT(value.status(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("reading the test")));
    } else {
      EXPECT_EQ(*value, "value of " + keys[k]);
    }
    return absl::OkStatus();
  };
  EXPECT_THAT(database_->MultiGet(Family::kWords, views, sink), IsOk());
  EXPECT_EQ(expected, keys.size());
}

TEST_F(DatabaseTest, OnAFullDiskOnlyWhatRemovesKeysIsWritten) {
  EXPECT_THAT(Put("a", "1"), IsOk());
  Reopen({.reserve_bytes = std::uint64_t{1} << 62});
  EXPECT_THAT(Put("b", "1"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("disk full")));
  EXPECT_THAT(Stage({"k"}).status(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(Ingest(*database_, {}), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(Get("a"), "1");
  EXPECT_THAT(database_->Write({{Family::kWords, "a", std::nullopt}}, Durability::kFile), IsOk());
  EXPECT_EQ(Get("a"), std::nullopt);
}

TEST_F(DatabaseTest, OpenedForACheckItIsReadAndNotWritten) {
  EXPECT_THAT(Put("a", "1"), IsOk());
  database_.reset();
  const auto database = Database::OpenForCheck(folder_.PathOf(""), Layout());
  ASSERT_THAT(database, IsOk());
  EXPECT_EQ((*database)->Get(Family::kWords, "a").value(), "1");
  EXPECT_THAT((*database)->Write({{Family::kWords, "b", "1"}}, Durability::kProcess),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("writing the test")));
}

TEST_F(DatabaseTest, StatisticsAreCountedWhereTheyAreAskedFor) {
  EXPECT_THAT(database_->statistics().counters, IsEmpty());
  Reopen({.reserve_bytes = 0, .statistics = true});
  EXPECT_THAT(database_->statistics().counters, ::testing::Not(IsEmpty()));
  EXPECT_GT(database_->memory_bytes(), 0u);
}

}  // namespace
}  // namespace packtrain::rocks
