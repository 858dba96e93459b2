// Space on the disk that no write may use.
#ifndef PACKTRAIN_SERVER_ROCKS_DISK_RESERVE_H_
#define PACKTRAIN_SERVER_ROCKS_DISK_RESERVE_H_

#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"

namespace packtrain::rocks {

// The reason of a failure that is for want of space (proto/packtrain/v1/ERRORS.md).
inline constexpr char kDiskFull[] = "DISK_FULL";

inline constexpr std::uint64_t kDefaultReserveBytes = std::uint64_t{64} << 20;

// A write that would go below the reserve is refused before it begins, so that RocksDB itself never finds the
// disk full: it may not come back from that without a restart. Any number of threads may use it.
class DiskReserve {
 public:
  DiskReserve(std::filesystem::path folder, std::uint64_t bytes);

  // RESOURCE_EXHAUSTED: less than `bytes` are free above the reserve. OK where the disk doesn't tell.
  absl::Status Require(std::uint64_t bytes) const;

 private:
  std::filesystem::path folder_;
  std::uint64_t bytes_;
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_DISK_RESERVE_H_
