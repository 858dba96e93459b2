#include "proto/base/standard_descriptors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace packtrain::base {
namespace {

bool IsOfNoUse(int descriptor) {
  char byte = 0;
  if (descriptor == STDIN_FILENO) return read(descriptor, &byte, 1) == -1;
  return write(descriptor, &byte, 1) == -1;
}

// Whether, in a process that begins with `closed` closed, those are held, neither read nor written, and the
// next file is none of 0, 1 and 2.
bool AreHeld(const std::vector<int>& closed) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int descriptor : closed) close(descriptor);
    bool held = HoldStandardDescriptors();
    for (const int descriptor : closed) held = held && IsOfNoUse(descriptor);
    _exit(held && dup(STDERR_FILENO) > STDERR_FILENO ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(StandardDescriptorsTest, ThoseThatAreClosedAreHeld) {
  EXPECT_TRUE(AreHeld({}));
  EXPECT_TRUE(AreHeld({STDIN_FILENO}));
  EXPECT_TRUE(AreHeld({STDERR_FILENO}));
  EXPECT_TRUE(AreHeld({STDOUT_FILENO, STDERR_FILENO}));
  EXPECT_TRUE(AreHeld({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}));
}

TEST(StandardDescriptorsTest, ThoseThatAreOpenStay) {
  struct stat before = {};
  struct stat after = {};
  ASSERT_EQ(fstat(STDERR_FILENO, &before), 0);
  EXPECT_TRUE(HoldStandardDescriptors());
  ASSERT_EQ(fstat(STDERR_FILENO, &after), 0);
  EXPECT_EQ(before.st_dev, after.st_dev);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

}  // namespace
}  // namespace packtrain::base
