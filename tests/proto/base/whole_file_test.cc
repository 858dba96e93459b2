#include "proto/base/whole_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::base {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::ReadFile;
using packtrain::testing::StatusIs;
using packtrain::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WholeFileTest : public ::testing::Test {
 protected:
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.PathOf(""))) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  // A process that has written a part of the file when this returns.
  pid_t BeginInAnotherProcess() {
    int began[2];
    EXPECT_EQ(pipe(began), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto file = WholeFile::Create(path_);
      const bool written = file.ok() && (*file)->Write(std::string(1 << 20, 'x')).ok();
      if (write(began[1], written ? "y" : "n", 1) != 1) _exit(1);
      while (true) pause();
    }
    char written = 0;
    EXPECT_EQ(read(began[0], &written, 1), 1);
    EXPECT_EQ(written, 'y');
    close(began[0]);
    close(began[1]);
    return child;
  }

  const TempFolder folder_;
  const std::string path_ = folder_.PathOf("file");
};

TEST_F(WholeFileTest, IsThereOnceItIsCommitted) {
  {
    const auto file = WholeFile::Create(path_);
    ASSERT_THAT(file, IsOk());
    ASSERT_THAT((*file)->Write("first "), IsOk());
    ASSERT_THAT((*file)->Write("second"), IsOk());
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_THAT((*file)->Commit(), IsOk());
  }
  EXPECT_EQ(ReadFile(path_), "first second");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(WholeFileTest, TakesThePlaceOfOnesBefore) {
  folder_.Write("file", "old");
  folder_.Write("file.partial", "left by a kill");
  const auto file = WholeFile::Create(path_);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT((*file)->Write("new"), IsOk());
  EXPECT_EQ(ReadFile(path_), "old");
  EXPECT_THAT((*file)->Commit(), IsOk());
  EXPECT_EQ(ReadFile(path_), "new");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(WholeFileTest, LeavesNoTraceUncommitted) {
  { ASSERT_THAT((*WholeFile::Create(path_))->Write("some"), IsOk()); }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WholeFileTest, LeavesNoTraceOfAProgramThatASignalEnds) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const pid_t child = BeginInAnotherProcess();
    kill(child, signal);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_THAT(Names(), IsEmpty()) << signal;
  }
}

TEST_F(WholeFileTest, LeavesADeviceInItsPlace) {
  const std::string path = folder_.PathOf("device");
  std::filesystem::create_symlink("/dev/null", path);
  {
    const auto file = WholeFile::Create(path);
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT((*file)->Write("bytes"), IsOk());
    EXPECT_THAT((*file)->Commit(), IsOk());
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THAT(Names(), ElementsAre("device"));
}

TEST_F(WholeFileTest, FollowsALinkAndKeepsWhoMayRead) {
  const std::string target = folder_.Write("target", "before");
  const auto only_owner = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(target, only_owner);
  const std::string link = folder_.PathOf("link");
  std::filesystem::create_symlink(target, link);
  const auto file = WholeFile::Create(link);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write("after"), IsOk());
  EXPECT_EQ(ReadFile(target), "before");
  EXPECT_THAT((*file)->Commit(), IsOk());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(ReadFile(target), "after");
  EXPECT_EQ(std::filesystem::status(target).permissions(), only_owner);
}

TEST_F(WholeFileTest, WritesToAnOpenFileAsItIs) {
  const std::string target = folder_.Write("held", "");
  const int held = ::open(target.c_str(), O_RDONLY);  // as one that the program was started with
  ASSERT_GE(held, 0);
  const std::string link = folder_.PathOf("link");
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(held), link);
  const auto file = WholeFile::Create(link);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write("bytes"), IsOk());
  EXPECT_THAT((*file)->Commit(), IsOk());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::array<char, 5> bytes{};
  EXPECT_EQ(::read(held, bytes.data(), bytes.size()), 5);
  ::close(held);
}

TEST_F(WholeFileTest, GoesOnWhereTheOpenFileStands) {
  const std::string target = folder_.Write("held", "before ");
  const int held = ::open(target.c_str(), O_WRONLY);  // as one that the program was started with
  ASSERT_GE(held, 0);
  ASSERT_EQ(::lseek(held, 0, SEEK_END), 7);
  const std::string path = "/dev/fd/" + std::to_string(held);
  EXPECT_THAT(WholeFile::Create(path), IsOk());  // and writes nothing
  EXPECT_EQ(ReadFile(target), "before ");
  const auto file = WholeFile::Create(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write("bytes"), IsOk());
  EXPECT_THAT((*file)->Commit(), IsOk());
  EXPECT_EQ(::write(held, " after", 6), 6);
  EXPECT_EQ(ReadFile(target), "before bytes after");
  ::close(held);
}

TEST_F(WholeFileTest, WhatTheProgramOpenedItselfIsNoFileOfTheUsers) {
  const std::string target = folder_.Write("held", "before");
  const int held = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(held, 0);
  EXPECT_THAT(WholeFile::Create("/dev/fd/" + std::to_string(held)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Bad file descriptor")));
  ::close(held);
}

TEST_F(WholeFileTest, ALinkToNoFileYetIsFollowed) {
  std::filesystem::create_symlink("later", folder_.PathOf("second"));
  std::filesystem::create_symlink("second", folder_.PathOf("first"));
  const auto file = WholeFile::Create(folder_.PathOf("first"));
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Write("bytes"), IsOk());
  EXPECT_THAT((*file)->Commit(), IsOk());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.PathOf("first")));
  EXPECT_EQ(ReadFile(folder_.PathOf("later")), "bytes");
}

TEST_F(WholeFileTest, DashNamesNoFile) {
  EXPECT_THAT(WholeFile::Create("-").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("standard output is /dev/stdout")));
}

TEST_F(WholeFileTest, WhatCannotBeWrittenIsNamed) {
  const std::string nowhere = folder_.PathOf("none/file");
  EXPECT_THAT(WholeFile::Create(nowhere).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(nowhere + ": No such file")));
  EXPECT_THAT(WholeFile::Create(folder_.PathOf("")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it is a folder")));
}

}  // namespace
}  // namespace packtrain::base
