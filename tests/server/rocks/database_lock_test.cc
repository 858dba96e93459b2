// The files of a database beside RocksDB's: its lock, which one process holds, and its reserve.
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
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/log/event_log.h"
#include "server/rocks/database.h"
#include "tests/server/rocks/database_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::rocks {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

using DatabaseLockTest = DatabaseTest;

TEST_F(DatabaseLockTest, IsOpenedOnceAtATime) {
  EXPECT_THAT(Database::Open(folder_.PathOf("."), Layout(), {}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(absl::StrCat("process ", getpid()))));
  EXPECT_THAT(Database::Open(folder_.PathOf("missing"), Layout(), {}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("missing")));
}

TEST_F(DatabaseLockTest, ALockThatIsDeletedLetsNobodyInAndIsPutBack) {
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

TEST_F(DatabaseLockTest, ALockThatAnotherProcessHasTakenEndsTheWritesAndNoRead) {
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

TEST_F(DatabaseLockTest, AReserveThatIsDeletedOrCutIsMadeAgainByTheNextWrite) {
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

TEST_F(DatabaseLockTest, WhatIsCalledReserveAndIsNoPlainFileIsReplacedAndLeadsNowhere) {
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

}  // namespace
}  // namespace packtrain::rocks
