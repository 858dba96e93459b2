#include "client/ingest/ledger.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using ::testing::Pair;
using testing::StatusIs;

Ledger TwoRefused() {
  const RefusedGraph first{Origin{"a.xyz", "frame", 2, 9}, "m-2", "not_finite", "a.xyz:11: \"nan\""};
  const RefusedGraph second{Origin{"\xff.xyz", "frame", 1, 1}, "m-1", "duplicate_id", "again"};
  Ledger ledger;
  for (int graph = 0; graph < 3; ++graph) ledger.AddRead();
  ledger.AddRefused(first);
  ledger.AddRefused(second);
  return ledger;
}

TEST(LedgerTest, ReasonsAreCounted) {
  const Ledger ledger = TwoRefused();
  EXPECT_EQ(ledger.read(), 3u);
  EXPECT_THAT(ledger.refused_by_reason(), ElementsAre(Pair("duplicate_id", 1), Pair("not_finite", 1)));
}

TEST(LedgerTest, GraphsThatAreNotListedAreCounted) {
  Ledger ledger = TwoRefused();
  ledger.AddUnlisted("duplicate_id", 40);
  ledger.AddUnlisted("no_id", 0);
  EXPECT_THAT(ledger.refused_by_reason(), ElementsAre(Pair("duplicate_id", 41), Pair("not_finite", 1)));
  EXPECT_EQ(ledger.refused_graphs(), 42u);
  EXPECT_EQ(ledger.unlisted(), 40u);
  EXPECT_EQ(ledger.ToJsonLines(), TwoRefused().ToJsonLines());
}

TEST(LedgerTest, EachRefusedGraphIsALineOfJsonWhateverItsFileIsCalled) {
  EXPECT_EQ(
      TwoRefused().ToJsonLines(),
      R"({"file":"a.xyz","frame":2,"line":9,"id":"m-2","reason":"not_finite","message":"a.xyz:11: \"nan\""})"
      "\n"
      "{\"file\":\"\xef\xbf\xbd.xyz\",\"frame\":1,\"line\":1,\"id\":\"m-1\",\"reason\":\"duplicate_id\","
      "\"message\":\"again\"}\n");
}

TEST(LedgerTest, WhatThereIsNotIsLeftOut) {
  Ledger ledger;
  ledger.AddRefused({WholeFile("a.tar"), "", "too_many_members", "a.tar: many"});
  ledger.AddRefused({Origin{"a.packtrain", "graph", 2, 0}, "g", "duplicate_id", "again"});
  EXPECT_EQ(ledger.ToJsonLines(),
            R"({"file":"a.tar","reason":"too_many_members","message":"a.tar: many"})"
            "\n"
            R"({"file":"a.packtrain","frame":2,"id":"g","reason":"duplicate_id","message":"again"})"
            "\n");
}

TEST(LedgerTest, FileThatIsNotReadOnIsTold) {
  Ledger ledger = TwoRefused();
  ledger.AddRefused({.origin = {"b.xyz", "frame", 5, 19},
                     .id = "b:5",
                     .reason = "bad_count",
                     .message = "no count",
                     .leaves_rest = true});
  EXPECT_THAT(ledger.unread(), ElementsAre(Origin{"b.xyz", "frame", 5, 19}));
  EXPECT_THAT(ledger.ToJsonLines(),
              ::testing::EndsWith(R"("reason":"bad_count","message":"no count","rest_unread":true})"
                                  "\n"));
}

TEST(LedgerTest, GraphsStoredWithARemarkFollowTheRefusedOnes) {
  Ledger ledger;
  ledger.AddRemark({Origin{"a.sdf", "molecule", 2, 9}, "m-2", "unsanitized"});
  ledger.AddRemark({Origin{"a.sdf", "molecule", 3, 19}, "m-3", "unsanitized"});
  EXPECT_THAT(ledger.stored_by_remark(), ElementsAre(Pair("unsanitized", 2)));
  ledger.DropRemarks({"a.sdf:19: molecule 3", "elsewhere"});
  EXPECT_THAT(ledger.stored_by_remark(), ElementsAre(Pair("unsanitized", 1)));
  EXPECT_EQ(ledger.ToJsonLines(),
            "{\"file\":\"a.sdf\",\"frame\":2,\"line\":9,\"id\":\"m-2\",\"remark\":\"unsanitized\"}\n");
}

TEST(LedgerTest, FilesThatWerePassedOverAreCountedAndNamed) {
  PassedOver files;
  files.path = "a.tar";
  for (const char* name : {"README", "b.csv", "c", "d", "e", "f", "g"}) files.Add(name);
  Ledger ledger;
  ledger.AddPassedOver(files);
  ledger.AddPassedOver(files);
  EXPECT_EQ(ledger.passed_over(), 14u);
  const std::string line =
      "{\"file\":\"a.tar\",\"passed_over\":7,\"names\":[\"README\",\"b.csv\",\"c\",\"d\",\"e\"]}\n";
  EXPECT_EQ(ledger.ToJsonLines(), line + line);
}

TEST(LedgerFileTest, IsWrittenWhole) {
  const testing::TempFolder folder;
  const std::string path = folder.Write("ledger.jsonl", "old");
  const auto file = LedgerFile::Open(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(testing::ReadFile(path), "old");
  ASSERT_THAT((*file)->Write(TwoRefused()), IsOk());
  EXPECT_EQ(testing::ReadFile(path), TwoRefused().ToJsonLines());
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST(LedgerFileTest, LeavesNoTraceWhereNothingIsWritten) {
  const testing::TempFolder folder;
  ASSERT_THAT(LedgerFile::Open(folder.PathOf("ledger.jsonl")), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(folder.PathOf("")));
}

TEST(LedgerFileTest, ThatCannotBeWrittenIsNamedAtOnce) {
  const testing::TempFolder folder;
  for (const std::string& path : {std::string("/nowhere/ledger.jsonl"), folder.PathOf("")}) {
    EXPECT_THAT(LedgerFile::Open(path),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr(path)));
  }
}

TEST(LedgerFileTest, OnAFullDiskIsNamed) {
  const testing::TempFolder folder;
  const std::string path = folder.PathOf("ledger.jsonl");
  std::filesystem::create_symlink("/dev/full", path);
  const auto file = LedgerFile::Open(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write(TwoRefused()),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("No space left")));
}

}  // namespace
}  // namespace packtrain::ingest
