#include "server/rocks/database.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/log/event_log.h"
#include "server/rocks/sorted_files.h"
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
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

enum class Family { kWords, kFiles };

DatabaseLayout Layout() {
  return {.families = {{.name = "words", .compression = Compression::kLz4},
                       {.name = "files", .random_reads = true, .ingested = true, .scanned_once = true}},
          .reading = "reading the test",
          .scanning = "scanning the test",
          .writing = "writing the test"};
}

const std::string kLongValue(5'000, 'v');

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() { Reopen(); }

  void Reopen(const DatabaseOptions& options = {.reserve_bytes = 0}) {
    database_.reset();
    database_ = Database::Open(folder_.PathOf(""), Layout(), options).value();
  }

  absl::Status Put(const std::string& key, const std::string& value,
                   Durability durability = Durability::kProcess) {
    return database_->Write({{Family::kWords, key, value}}, durability);
  }

  std::optional<std::string> Get(const std::string& key) const {
    return database_->Get(Family::kWords, key).value();
  }

  std::vector<std::pair<std::string, std::string>> Scan(FamilyId family, const std::string& prefix) const {
    std::vector<std::pair<std::string, std::string>> found;
    EXPECT_THAT(database_->Scan(family, prefix,
                                [&](std::string_view key, std::string_view value) {
                                  found.emplace_back(key, value);
                                  return absl::OkStatus();
                                }),
                IsOk());
    return found;
  }

  // Writes each key, with a value that fills a block, to files outside the database. A file ends with the first
  // key that finds a block full.
  absl::StatusOr<std::vector<SortedFile>> Stage(const std::vector<std::string>& keys) {
    writer_ = std::make_unique<SortedFileWriter>(database_, Family::kFiles, folder_.PathOf("staged"), 1);
    for (const std::string& key : keys) {
      if (absl::Status status = writer_->Add(key, kLongValue); !status.ok()) return status;
    }
    return writer_->Finish();
  }

  const TempFolder folder_;
  std::shared_ptr<Database> database_;
  std::unique_ptr<SortedFileWriter> writer_;
};

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

TEST_F(DatabaseTest, IsOpenedOnceAtATime) {
  EXPECT_THAT(Database::Open(folder_.PathOf("."), Layout(), {}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(absl::StrCat("process ", getpid()))));
  EXPECT_THAT(Database::Open(folder_.PathOf("missing"), Layout(), {}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("missing")));
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

TEST_F(DatabaseTest, ALockThatIsDeletedLetsNobodyInAndIsPutBack) {
  const std::string lock = folder_.PathOf("LOCK");
  ASSERT_TRUE(std::filesystem::remove(lock));
  EXPECT_THAT(Database::Open(folder_.PathOf(""), Layout(), {}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(absl::StrCat("process ", getpid()))));
  EXPECT_THAT(Put("a", "1"), IsOk());
  EXPECT_TRUE(std::filesystem::exists(lock));
  EXPECT_THAT(Database::Open(folder_.PathOf(""), Layout(), {}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Put("b", "1"), IsOk());
}

TEST_F(DatabaseTest, ALockThatAnotherProcessHasTakenEndsTheWritesAndNoRead) {
  EXPECT_THAT(Put("a", "1"), IsOk());
  ASSERT_TRUE(std::filesystem::remove(folder_.PathOf("LOCK")));
  int locked[2], done[2];
  ASSERT_EQ(::pipe(locked), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t other = ::fork();
  if (other == 0) {  // as an earlier version does, which knows no other lock
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    const int fd = ::open(folder_.PathOf("LOCK").c_str(), O_RDWR | O_CREAT, 0644);
    char byte = ::fcntl(fd, F_SETLK, &whole) == 0 ? 1 : 0;
    ::close(done[1]);
    (void)!::write(locked[1], &byte, 1);
    (void)!::read(done[0], &byte, 1);  // until the test closes its end
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(locked[0], &byte, 1), 1);
  ASSERT_EQ(byte, 1);
  EXPECT_THAT(Put("b", "1"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(absl::StrCat(other))));
  EXPECT_EQ(Get("a"), "1");
  ::close(done[1]);
  ASSERT_EQ(::waitpid(other, nullptr, 0), other);
  EXPECT_THAT(Put("b", "1"), IsOk());
}

TEST_F(DatabaseTest, AReserveThatIsDeletedOrCutIsMadeAgainByTheNextWrite) {
  const std::string file = folder_.PathOf("RESERVE");
  Reopen({.reserve_bytes = 1 << 20});
  ASSERT_TRUE(std::filesystem::remove(file));
  EXPECT_THAT(Put("a", "1"), IsOk());
  ASSERT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(std::filesystem::file_size(file), std::uintmax_t{1} << 18);
  std::filesystem::resize_file(file, 1);
  EXPECT_THAT(Put("a", "2"), IsOk());
  EXPECT_EQ(std::filesystem::file_size(file), std::uintmax_t{1} << 18);
}

TEST_F(DatabaseTest, WhatIsCalledReserveAndIsNoPlainFileIsReplacedAndLeadsNowhere) {
  const std::string file = folder_.PathOf("RESERVE");
  const std::string others = folder_.Write("others", "not ours");
  const std::vector<std::function<int()>> places = {[&] { return ::symlink(others.c_str(), file.c_str()); },
                                                    [&] { return ::link(others.c_str(), file.c_str()); },
                                                    [&] { return ::mkfifo(file.c_str(), 0600); },
                                                    [&] { return ::mkdir(file.c_str(), 0700); }};
  Reopen({.reserve_bytes = 1 << 20});
  for (const auto& put_there : places) {
    ASSERT_TRUE(std::filesystem::remove(file));
    ASSERT_EQ(put_there(), 0);
    EXPECT_THAT(Put("a", "1"), IsOk());
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file)));
    EXPECT_EQ(std::filesystem::file_size(file), std::uintmax_t{1} << 18);
    EXPECT_EQ(testing::ReadFile(others), "not ours");
  }
}

// From here on, this process and its children are on file systems that lock no folder.
bool RefuseFolderLocks() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// In a process that may lock no folder: what another process is told that opens the same store.
[[noreturn]] void OpenTwiceWithoutFolderLocks(const std::string& folder) {
  if (!RefuseFolderLocks()) {
    std::cerr << "no filters here\n";
    std::_Exit(0);
  }
  log::SetUp({});
  const auto first = Database::Open(folder, Layout(), {.reserve_bytes = 0});
  const pid_t second = ::fork();
  if (second == 0) {
    const absl::StatusCode code = Database::Open(folder, Layout(), {}).status().code();
    std::_Exit(code == absl::StatusCode::kFailedPrecondition ? 0 : 2);
  }
  int status = 0;
  ::waitpid(second, &status, 0);
  std::_Exit(first.ok() && WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

using FolderLockDeathTest = DatabaseTest;

TEST_F(FolderLockDeathTest, WhereNoFolderCanBeLockedTheFileIsTheLockAndTheLogSaysSo) {
  database_.reset();
  EXPECT_EXIT(OpenTwiceWithoutFolderLocks(folder_.PathOf("")), ::testing::ExitedWithCode(0),
              "event=folder_not_locked store=.*the only lock|no filters here");
}

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

using SortedFilesTest = DatabaseTest;

TEST_F(SortedFilesTest, FilesAreMovedInAndTheirKeysAreThere) {
  const auto files = Stage({"a", "b", "c"});
  ASSERT_THAT(files, IsOk());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ(files->front().first_key, "a");
  EXPECT_EQ(files->back().last_key, "c");
  EXPECT_THAT(Scan(Family::kFiles, ""), IsEmpty());
  EXPECT_THAT(Ingest(*database_, *files), IsOk());
  EXPECT_THAT(Scan(Family::kFiles, ""),
              ElementsAre(Pair("a", kLongValue), Pair("b", kLongValue), Pair("c", kLongValue)));
  for (const SortedFile& file : *files) EXPECT_FALSE(std::filesystem::exists(file.path)) << file.path;
  writer_.reset();  // which holds the database open
  Reopen();
  EXPECT_THAT(Scan(Family::kFiles, ""), SizeIs(3));
}

TEST_F(SortedFilesTest, FilesThatAreNotTakenInGoWithTheirWriter) {
  const auto files = Stage({"a", "b"});
  ASSERT_THAT(files, IsOk());
  EXPECT_TRUE(std::filesystem::exists(files->front().path));
  writer_.reset();
  EXPECT_FALSE(std::filesystem::exists(files->front().path));
}

TEST_F(SortedFilesTest, AFileThatIsNotAsItWasWrittenIsNotTakenIn) {
  const auto files = Stage({"a"});
  ASSERT_THAT(files, IsOk());
  std::vector<SortedFile> other = *files;
  other.front().last_key = "z";
  EXPECT_THAT(Ingest(*database_, other), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Scan(Family::kFiles, ""), IsEmpty());
}

TEST_F(SortedFilesTest, KeysOutOfOrderFailAndGoOnFailing) {
  EXPECT_THAT(Stage({"b", "a"}).status(), ::testing::Not(IsOk()));
  EXPECT_THAT(writer_->Add("c", "c"), ::testing::Not(IsOk()));
  EXPECT_THAT(writer_->Finish().status(), ::testing::Not(IsOk()));
}

TEST_F(SortedFilesTest, ADroppedRangeGivesItsFilesBack) {
  const auto files = Stage({"a", "b", "c"});
  ASSERT_THAT(files, IsOk());
  ASSERT_THAT(Ingest(*database_, *files), IsOk());
  EXPECT_THAT(database_->DropRange(Family::kFiles, "a", "c"), IsOk());
  EXPECT_THAT(Scan(Family::kFiles, ""), ElementsAre(Pair("c", kLongValue)));
  // The file of two values is gone, and not only hidden.
  for (const StoredFile& file : database_->sorted_files()) EXPECT_LT(file.bytes, 2 * kLongValue.size());
}

}  // namespace
}  // namespace packtrain::rocks
