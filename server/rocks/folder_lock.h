// Keeps other processes from a database's folder.
#ifndef PACKTRAIN_SERVER_ROCKS_FOLDER_LOCK_H_
#define PACKTRAIN_SERVER_ROCKS_FOLDER_LOCK_H_

#include <filesystem>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"

namespace packtrain::rocks {

// Two locks: of the folder itself, which nobody can delete unseen, and of the file LOCK in it, which RocksDB's
// own tools and earlier versions look at. Where the file system cannot lock a folder (some of those on a
// network), the second one is all, and the log says so. Any number of threads may use it.
class FolderLock {
 public:
  // FAILED_PRECONDITION: a process has the folder locked, perhaps this one; the message names it.
  // RESOURCE_EXHAUSTED: the disk has no room for LOCK. UNAVAILABLE: it cannot be made for another reason.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::filesystem::path& folder);

  // The same for a process that only reads. Where LOCK can be neither written nor made, as on a read-only file
  // system or in somebody else's copy, the lock of the folder is all.
  static absl::StatusOr<std::unique_ptr<FolderLock>> TakeForReading(const std::filesystem::path& folder);

  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // To be called before each write. Where LOCK is gone or is another file, it is put back, and the log says so.
  // FAILED_PRECONDITION: another process has locked the file that stands there now; nothing may be written.
  absl::Status Keep();

 private:
  enum class Mode { kWrite, kRead };
  FolderLock(std::filesystem::path folder, int folder_fd);
  static absl::StatusOr<std::unique_ptr<FolderLock>> TakeAs(const std::filesystem::path& folder, Mode mode);

  // Locks LOCK, which is made where it is missing.
  absl::Status LockFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether LOCK is the file that is locked.
  bool IsInPlace() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::filesystem::path folder_;
  const int folder_fd_;  // locked where the file system can do that

  base::Mutex mutex_;
  int file_fd_ ABSL_GUARDED_BY(mutex_) = -1;  // of LOCK, locked
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_FOLDER_LOCK_H_
