#include "server/rocks/rocks_status.h"

#include <fcntl.h>
#include <rocksdb/status.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "server/rocks/disk_reserve.h"

namespace packtrain::rocks {
namespace {

// The process that holds the lock file, 0 where none does. Must not be called by the holder: closing the
// file would give up its lock.
pid_t LockHolder(const std::filesystem::path& folder) {
  const int fd = ::open((folder / "LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return 0;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool held = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  return held ? lock.l_pid : 0;
}

// RocksDB answers so from a table in memory, without touching the lock file.
bool IsHeldByThisProcess(const rocksdb::Status& status) {
  return status.ToString().find("lock hold by current process") != std::string::npos;
}

}  // namespace

absl::Status ToStatus(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  std::string message = absl::StrCat(std::string(doing), ": ", status.ToString());
  if (status.severity() >= rocksdb::Status::kFatalError) {
    absl::StrAppend(&message, "; the store takes no more writes until the server is started again");
  }
  if (status.IsNoSpace()) {
    return base::WithReason(absl::ResourceExhaustedError(absl::StrCat("disk full while ", message)), kDiskFull);
  }
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotFound()) return absl::NotFoundError(message);
  return absl::UnavailableError(message);
}

absl::Status OpenFailure(const rocksdb::Status& status, const std::filesystem::path& folder) {
  const pid_t holder = IsHeldByThisProcess(status) ? ::getpid() : status.IsIOError() ? LockHolder(folder) : 0;
  if (holder == 0) return ToStatus(status, absl::StrCat("opening ", folder.string()));
  return absl::FailedPreconditionError(
      absl::StrCat("the store ", folder.string(), " is in use by process ", holder));
}

}  // namespace packtrain::rocks
