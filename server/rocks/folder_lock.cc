#include "server/rocks/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/log/event_log.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {
namespace {

constexpr mode_t kOnlyOwnerWrites = 0644;

struct flock WholeFile() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

absl::Status IoFailure(const std::filesystem::path& path, int error) {
  return ToStatus(error, absl::StrCat("opening ", path.string()));
}

absl::Status InUse(const std::filesystem::path& folder, pid_t holder) {
  return absl::FailedPreconditionError(
      absl::StrCat("the store ", folder.string(), " is in use by ",
                   holder > 0 ? absl::StrCat("process ", holder) : std::string("another process")));
}

// The process that holds a lock of the file, as the system lists them; 0: it is not listed, since it runs on
// another machine or in another container.
pid_t ListedHolder(int fd) {
  struct stat file = {};
  if (::fstat(fd, &file) != 0) return 0;
  char device[32];
  ::snprintf(device, sizeof device, "%02x:%02x:", ::major(file.st_dev), ::minor(file.st_dev));
  const std::string wanted = absl::StrCat(std::string(device), file.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, place;
    pid_t pid = 0;
    if (words >> number >> kind >> advisory >> access >> pid >> place && place == wanted) return pid;
  }
  return 0;
}

// The process that holds LOCK, 0 where none does. Must not be called by the holder: closing the file would give
// up its lock.
pid_t HolderOf(int lock_fd) {
  struct flock lock = WholeFile();
  const bool held = ::fcntl(lock_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  return held ? lock.l_pid : 0;
}

// OK also where the file system cannot lock a folder, which the log tells.
absl::Status LockFolder(const std::filesystem::path& folder, int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  const int error = errno;
  if (error == EWOULDBLOCK) return InUse(folder, ListedHolder(fd));
  log::Log(log::Level::kWarn, "folder_not_locked",
           {{"store", folder.string()},
            {"message", absl::StrCat("the file system locks no folder (", std::system_category().message(error),
                                     "); the file LOCK in it is the only lock, and must not be deleted")}});
  return absl::OkStatus();
}

// FAILED_PRECONDITION: somebody has the store open, as far as can be told from a LOCK that cannot be written.
absl::Status CheckUnheld(const std::filesystem::path& folder) {
  const int fd = ::open((folder / "LOCK").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::OkStatus();
  const pid_t holder = HolderOf(fd);
  ::close(fd);
  return holder == 0 ? absl::OkStatus() : InUse(folder, holder);
}

// Whether LOCK can be written, or made where it is missing.
bool MayLockFile(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "LOCK";
  const bool there = ::access(file.c_str(), F_OK) == 0;
  return ::faccessat(AT_FDCWD, there ? file.c_str() : folder.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace

FolderLock::FolderLock(std::filesystem::path folder, int folder_fd)
    : folder_(std::move(folder)), folder_fd_(folder_fd) {}

FolderLock::~FolderLock() {
  if (file_fd_ >= 0) ::close(file_fd_);
  ::close(folder_fd_);
}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::filesystem::path& folder) {
  return TakeAs(folder, Mode::kWrite);
}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::TakeForReading(const std::filesystem::path& folder) {
  return TakeAs(folder, Mode::kRead);
}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::TakeAs(const std::filesystem::path& folder, Mode mode) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return IoFailure(folder, errno);
  std::unique_ptr<FolderLock> taken(new FolderLock(folder, fd));
  // First, so that LOCK is never opened by a process that holds it: closing it again would give up that lock.
  ABSL_RETURN_IF_ERROR(LockFolder(folder, fd));
  const base::MutexLock lock(taken->mutex_);
  if (mode == Mode::kRead && !MayLockFile(folder)) {
    ABSL_RETURN_IF_ERROR(CheckUnheld(folder));
  } else {
    ABSL_RETURN_IF_ERROR(taken->LockFile());
  }
  return taken;
}

absl::Status FolderLock::LockFile() {
  const std::filesystem::path path = folder_ / "LOCK";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOnlyOwnerWrites);
  if (fd < 0) return IoFailure(path, errno);
  struct flock whole = WholeFile();
  if (::fcntl(fd, F_SETLK, &whole) != 0) {
    const int error = errno;
    const bool held = error == EACCES || error == EAGAIN;
    const pid_t holder = held ? HolderOf(fd) : 0;
    ::close(fd);
    return held ? InUse(folder_, holder) : IoFailure(path, error);
  }
  if (file_fd_ >= 0) ::close(file_fd_);
  file_fd_ = fd;
  return absl::OkStatus();
}

bool FolderLock::IsInPlace() const {
  struct stat held = {}, there = {};
  return ::fstat(file_fd_, &held) == 0 && ::stat((folder_ / "LOCK").c_str(), &there) == 0 &&
         held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

absl::Status FolderLock::Keep() {
  const base::MutexLock lock(mutex_);
  if (IsInPlace()) return absl::OkStatus();
  absl::Status put_back = LockFile();
  const std::string path = (folder_ / "LOCK").string();
  if (put_back.ok()) {
    log::Log(log::Level::kWarn, "lock_put_back",
             {{"file", path}, {"message", "somebody has removed the lock of a store that is in use"}});
  }
  return put_back;
}

}  // namespace packtrain::rocks
