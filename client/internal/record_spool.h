// Records that wait for a server, in a file.
#ifndef PACKTRAIN_CLIENT_INTERNAL_RECORD_SPOOL_H_
#define PACKTRAIN_CLIENT_INTERNAL_RECORD_SPOOL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"

namespace packtrain::client {

// Consecutive records of one kind, as the request that reports them.
struct SpooledBlock {
  std::uint32_t kind = 0;     // its place in ReportKinds
  std::uint32_t records = 0;  // how many there are
  std::uint64_t end = 0;      // the number of the record behind the last
  std::string request = {};
};

// A queue of blocks, first in, first out, in a file without a name, which is gone with the process. The file is
// made with the first block, and what is taken off its front is given back to the file system, where that can.
// Thread-safe; a call may wait for the disk.
class RecordSpool {
 public:
  struct Options {
    // Where the file lies. Empty, or where no file can be made: the system's folder for temporary files
    // ($TMPDIR).
    std::string folder;
    std::uint64_t max_bytes = 0;
  };

  explicit RecordSpool(Options options) : options_(std::move(options)) {}
  ~RecordSpool();
  RecordSpool(const RecordSpool&) = delete;
  RecordSpool& operator=(const RecordSpool&) = delete;

  // RESOURCE_EXHAUSTED: more than `max_bytes`, or the disk is full. Other codes: what the file system says.
  // After a failure the queue is as it was.
  absl::Status Append(const SpooledBlock& block);

  // The oldest block, which stays. NOT_FOUND: there is none. DATA_LOSS: the file does not hold what was
  // written.
  absl::StatusOr<SpooledBlock> Front() const;
  // Takes the oldest block off, if there is one.
  void Pop();
  void Clear();

  // Calls `take` with each block that is there when it begins, oldest first, but for those that are taken off
  // meanwhile: between two blocks, and while `take` runs, other calls go on. DATA_LOSS as Front, after the
  // blocks before.
  absl::Status ForEach(absl::FunctionRef<void(const SpooledBlock&)> take) const;

 private:
  absl::Status EnsureFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRoom(std::uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<SpooledBlock> Read(std::uint64_t offset) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<SpooledBlock> Next(std::uint64_t& offset, std::uint64_t end) const;
  void FreeFront() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;

  mutable base::Mutex mutex_;
  int fd_ ABSL_GUARDED_BY(mutex_) = -1;  // -1: no file yet
  // Offsets count all bytes that were ever appended, so that none comes twice.
  std::uint64_t file_ ABSL_GUARDED_BY(mutex_) = 0;   // offset of the file's first byte
  std::uint64_t begin_ ABSL_GUARDED_BY(mutex_) = 0;  // offset of the oldest block
  std::uint64_t end_ ABSL_GUARDED_BY(mutex_) = 0;    // offset behind the newest
  std::uint64_t freed_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes before it take no space any more
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_RECORD_SPOOL_H_
