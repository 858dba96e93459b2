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

// Makes it as short as that, or takes it away.
void Cut(const std::filesystem::path& file, std::uint64_t bytes) {
  if (bytes == 0 || ::truncate(file.c_str(), static_cast<off_t>(bytes)) != 0) ::unlink(file.c_str());
}

struct File {
  std::uint64_t bytes = 0;
  bool has_blocks = false;  // for all its bytes
};

// No bytes where there is none.
File Look(const std::filesystem::path& folder) {
  struct stat file = {};
  if (::stat(FileIn(folder).c_str(), &file) != 0) return {};
  const auto bytes = static_cast<std::uint64_t>(file.st_size);
  return {bytes, static_cast<std::uint64_t>(file.st_blocks) * kBlockBytes >= bytes};
}

}  // namespace

DiskReserve::DiskReserve(std::filesystem::path folder, std::uint64_t bytes)
    : folder_(std::move(folder)), bytes_(bytes), file_bytes_(std::min(bytes / 4, kMaxFileBytes)) {
  made_ = Look(folder_).has_blocks;
}

std::optional<std::uint64_t> DiskReserve::Available() const {
  std::error_code error;
  const std::uint64_t available = std::filesystem::space(folder_, error).available;
  return error ? std::nullopt : std::optional(available);
}

// The blocks are looked at once, by the constructor, since some file systems pack those of zeros later.
std::uint64_t DiskReserve::Kept() const { return made_ ? std::min(Look(folder_).bytes, file_bytes_) : 0; }

absl::Status DiskReserve::Require(std::uint64_t bytes) const {
  std::optional<std::uint64_t> free = Available();
  if (free) {
    const base::MutexLock lock(mutex_);
    *free += Kept();
  }
  if (!free || *free >= bytes + bytes_) return absl::OkStatus();
  return base::WithReason(absl::ResourceExhaustedError(
                              absl::StrCat("disk full: ", folder_.string(), " has ", *free, " bytes free, ",
                                           bytes, " are needed and ", bytes_, " are kept back")),
                          kDiskFull, {{"free_bytes", absl::StrCat(*free)}});
}

bool DiskReserve::MakeFile() const {
  const std::filesystem::path path = FileIn(folder_);
  const std::uint64_t before = Kept();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const bool made = ::posix_fallocate(fd, 0, static_cast<off_t>(file_bytes_)) == 0;
  ::close(fd);
  if (!made) Cut(path, before);
  return made;
}

void DiskReserve::Keep() {
  if (file_bytes_ == 0) return;
  {
    const base::MutexLock lock(mutex_);
    if (Kept() == file_bytes_) return;
  }
  if (!Require(0).ok()) return;
  const base::MutexLock lock(mutex_);
  if (Kept() < file_bytes_) made_ = MakeFile() || made_;
}

void DiskReserve::Lend() {
  const std::uint64_t piece = (file_bytes_ + kPieces - 1) / kPieces;
  const std::optional<std::uint64_t> available = Available();
  if (!available || *available >= piece / 2) return;
  const base::MutexLock lock(mutex_);
  const std::uint64_t kept = Kept();
  if (kept > 0) Cut(FileIn(folder_), kept - std::min(kept, piece));
}

}  // namespace packtrain::rocks
