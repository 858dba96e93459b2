#include "server/rocks/folder_lock.h"

#include <rocksdb/env.h>

#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::filesystem::path& folder) {
  rocksdb::FileLock* lock = nullptr;
  const rocksdb::Status status = rocksdb::Env::Default()->LockFile((folder / "LOCK").string(), &lock);
  if (!status.ok()) return OpenFailure(status, folder);
  return std::unique_ptr<FolderLock>(new FolderLock(lock));
}

FolderLock::~FolderLock() { rocksdb::Env::Default()->UnlockFile(lock_).PermitUncheckedError(); }

}  // namespace packtrain::rocks
