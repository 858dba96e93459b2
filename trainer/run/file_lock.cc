#include "trainer/run/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/run/host_name.h"

namespace packtrain::trainer {
namespace {

// What the holder wrote.
absl::Status HeldBy(int fd) {
  std::array<char, 512> words{};
  const ssize_t size = pread(fd, words.data(), words.size(), 0);
  if (size <= 0) return absl::FailedPreconditionError("another process");
  return absl::FailedPreconditionError(std::string(words.data(), static_cast<std::size_t>(size)));
}

// A word for whoever is refused; the lock holds without it.
void WriteHolder(int fd) {
  const std::string words = absl::StrCat("process ", getpid(), " on host ", HostName());
  if (ftruncate(fd, 0) == 0) [[maybe_unused]]
    const ssize_t written = pwrite(fd, words.data(), words.size(), 0);
}

bool LacksLocks(int error) { return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK; }

}  // namespace

absl::StatusOr<FileLock> FileLock::Take(const std::string& path) {
  FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.fd_ < 0) return absl::ErrnoToStatus(errno, path);
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return HeldBy(lock.fd_);
    if (!LacksLocks(errno)) return absl::ErrnoToStatus(errno, path);
  }
  WriteHolder(lock.fd_);
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

}  // namespace packtrain::trainer
