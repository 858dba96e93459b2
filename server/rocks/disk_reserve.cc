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

struct File {
  std::uint64_t bytes = 0;
  bool has_blocks = false;  // for all its bytes
};

// A plain file with one name. Whatever else is called RESERVE was put there by somebody, and what it leads to
// is not ours.
bool IsOurs(const struct stat& file) { return S_ISREG(file.st_mode) && file.st_nlink == 1; }

// No bytes where there is no file of ours.
File Look(const std::filesystem::path& path) {
  struct stat file = {};
  if (::lstat(path.c_str(), &file) != 0 || !IsOurs(file)) return {};
  const auto bytes = static_cast<std::uint64_t>(file.st_size);
  return {bytes, static_cast<std::uint64_t>(file.st_blocks) * kBlockBytes >= bytes};
}

// Opens the file, or makes it; -1 where that cannot be. Waits for nobody, as a FIFO would.
int OpenFile(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  struct stat file = {};
  if (fd < 0 || (::fstat(fd, &file) == 0 && IsOurs(file))) return fd;
  ::close(fd);
  return -1;
}

// Takes away what is not ours, with nothing that it leads to; a folder where it is empty.
void ClearPlace(const std::filesystem::path& path) {
  struct stat file = {};
  if (::lstat(path.c_str(), &file) != 0 || IsOurs(file)) return;
  S_ISDIR(file.st_mode) ? ::rmdir(path.c_str()) : ::unlink(path.c_str());
}

// Makes a file of ours as short as that, or takes it away.
void Cut(const std::filesystem::path& path, std::uint64_t bytes) {
  const int fd = bytes == 0 ? -1 : OpenFile(path);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) ::unlink(path.c_str());
  if (fd >= 0) ::close(fd);
}

}  // namespace

DiskReserve::DiskReserve(std::filesystem::path folder, std::uint64_t bytes)
    : folder_(std::move(folder)), bytes_(bytes), file_bytes_(std::min(bytes / 4, kMaxFileBytes)) {
  made_ = Look(FileIn(folder_)).has_blocks;
}

std::optional<std::uint64_t> DiskReserve::Available() const {
  std::error_code error;
  const std::uint64_t available = std::filesystem::space(folder_, error).available;
  return error ? std::nullopt : std::optional(available);
}

// The blocks are looked at once, by the constructor, since some file systems pack those of zeros later.
std::uint64_t DiskReserve::Kept() const {
  return made_ ? std::min(Look(FileIn(folder_)).bytes, file_bytes_) : 0;
}

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
  ClearPlace(path);
  const int fd = OpenFile(path);
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
  const base::MutexLock lock(mutex_);
  const std::optional<std::uint64_t> available = Available();
  if (available && *available < piece_bytes() / 2) CutPiece();
}

void DiskReserve::LendAnother() {
  const base::MutexLock lock(mutex_);
  CutPiece();
}

void DiskReserve::CutPiece() {
  const std::uint64_t kept = Kept();
  if (kept > 0) Cut(FileIn(folder_), kept - std::min(kept, piece_bytes()));
}

}  // namespace packtrain::rocks
