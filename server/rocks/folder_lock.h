// Keeps other processes from a database's folder while this one looks at it.
#ifndef PACKTRAIN_SERVER_ROCKS_FOLDER_LOCK_H_
#define PACKTRAIN_SERVER_ROCKS_FOLDER_LOCK_H_

#include <filesystem>
#include <memory>

#include "absl/status/statusor.h"

namespace rocksdb {
class FileLock;
}

namespace packtrain::rocks {

// The lock that a database holds which was opened for writing. One that is opened for reading takes none.
class FolderLock {
 public:
  // FAILED_PRECONDITION: a process has the database open; the message names it.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(rocksdb::FileLock* lock) : lock_(lock) {}

  rocksdb::FileLock* const lock_;
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_FOLDER_LOCK_H_
