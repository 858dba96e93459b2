// Space on the disk that no write may use, but for what gives space back.
#ifndef PACKTRAIN_SERVER_ROCKS_DISK_RESERVE_H_
#define PACKTRAIN_SERVER_ROCKS_DISK_RESERVE_H_

#include <cstdint>
#include <filesystem>
#include <optional>

#include "absl/status/status.h"
#include "proto/base/mutex.h"

namespace packtrain::rocks {

// The reason of a failure that is for want of space (proto/packtrain/v1/ERRORS.md).
inline constexpr char kDiskFull[] = "DISK_FULL";

inline constexpr std::uint64_t kDefaultReserveBytes = std::uint64_t{64} << 20;

// A write that would go below the reserve is refused before it begins, so that RocksDB itself never finds the
// disk full. A quarter of the reserve, at most 16 MiB, is a file, RESERVE, which others cannot fill either: on
// a disk that they filled up a deletion is lent a piece of it. Any number of threads may use it.
class DiskReserve {
 public:
  // Number of pieces of the file. Other processes may fill a lent piece before the deletion uses it; the next
  // try is lent another.
  static constexpr int kPieces = 4;

  // Nothing is written before Keep.
  DiskReserve(std::filesystem::path folder, std::uint64_t bytes);

  // RESOURCE_EXHAUSTED: less than `bytes` are free above the reserve. OK where the disk doesn't tell.
  absl::Status Require(std::uint64_t bytes) const;

  // Makes the file whole where it was lent, deleted by hand or cut, and there is space for it.
  void Keep();
  // Cuts a piece off the file where less than half of one is free, for a write that gives space back.
  void Lend();
  // Cuts a piece off whatever is free, for such a write that has failed for want of space.
  void LendAnother();

 private:
  // Free bytes; none where the disk doesn't tell.
  std::optional<std::uint64_t> Available() const;
  // Bytes that the file keeps.
  std::uint64_t Kept() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t piece_bytes() const { return (file_bytes_ + kPieces - 1) / kPieces; }
  void CutPiece() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False where there is no space for it.
  bool MakeFile() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::filesystem::path folder_;
  const std::uint64_t bytes_;
  const std::uint64_t file_bytes_;

  mutable base::Mutex mutex_;
  bool made_ ABSL_GUARDED_BY(mutex_) = false;  // the file has its blocks
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_DISK_RESERVE_H_
