#include "server/rocks/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"

namespace packtrain::rocks {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks

std::filesystem::path FileIn(const std::filesystem::path& folder) { return folder / "RESERVE"; }

// Whether the file is as long as it was made. Its blocks are counted no more, since some file systems pack
// them.
bool HasFile(const std::filesystem::path& folder, std::uint64_t bytes) {
  struct stat file = {};
  return ::stat(FileIn(folder).c_str(), &file) == 0 && static_cast<std::uint64_t>(file.st_size) >= bytes;
}

}  // namespace

DiskReserve::DiskReserve(std::filesystem::path folder, std::uint64_t bytes)
    : folder_(std::move(folder)), bytes_(bytes), file_bytes_(std::min(bytes / 4, kMaxFileBytes)) {
  struct stat file = {};
  kept_ = file_bytes_ > 0 && ::stat(FileIn(folder_).c_str(), &file) == 0 &&
          static_cast<std::uint64_t>(file.st_blocks) * kBlockBytes >= file_bytes_;
}

std::optional<std::uint64_t> DiskReserve::Free() const {
  std::error_code error;
  const std::uint64_t available = std::filesystem::space(folder_, error).available;
  if (error) return std::nullopt;
  const base::MutexLock lock(mutex_);
  return available + (kept_ && HasFile(folder_, file_bytes_) ? file_bytes_ : 0);
}

absl::Status DiskReserve::Require(std::uint64_t bytes) const {
  const std::optional<std::uint64_t> free = Free();
  if (!free || *free >= bytes + bytes_) return absl::OkStatus();
  return base::WithReason(absl::ResourceExhaustedError(
                              absl::StrCat("disk full: ", folder_.string(), " has ", *free, " bytes free, ",
                                           bytes, " are needed and ", bytes_, " are kept back")),
                          kDiskFull, {{"free_bytes", absl::StrCat(*free)}});
}

bool DiskReserve::MakeFile() const {
  const std::filesystem::path path = FileIn(folder_);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const bool made = ::posix_fallocate(fd, 0, static_cast<off_t>(file_bytes_)) == 0;
  ::close(fd);
  if (!made) ::unlink(path.c_str());
  return made;
}

void DiskReserve::Keep() {
  if (file_bytes_ == 0) return;
  {
    const base::MutexLock lock(mutex_);
    kept_ = kept_ && HasFile(folder_, file_bytes_);
    if (kept_) return;
  }
  if (!Require(0).ok()) return;
  const base::MutexLock lock(mutex_);
  if (!kept_) kept_ = MakeFile();
}

void DiskReserve::Lend() {
  const base::MutexLock lock(mutex_);
  if (file_bytes_ > 0) ::unlink(FileIn(folder_).c_str());  // also one of another size
  kept_ = false;
}

}  // namespace packtrain::rocks
