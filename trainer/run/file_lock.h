// A file that one process at a time holds.
#ifndef PACKTRAIN_TRAINER_RUN_FILE_LOCK_H_
#define PACKTRAIN_TRAINER_RUN_FILE_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace packtrain::trainer {

// Held until it is destroyed, or its process dies, however it dies: the kernel frees it. The file stays. Used
// by one thread.
class FileLock {
 public:
  // Makes the file where there is none, and writes into it who holds it. FAILED_PRECONDITION: somebody else
  // does; the message is "process 12 on host a", or "another process" where the file does not say. Other codes
  // are the system's. File systems without locks lock nothing.
  static absl::StatusOr<FileLock> Take(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_;  // negative: holds nothing
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_FILE_LOCK_H_
