#include "trainer/run/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

namespace fs = std::filesystem;

// Of 1.4 billion parameters. A greater file is none of ours, and may be more than there is memory.
constexpr off_t kMaxBytes = off_t{16} << 30;

// A descriptor that is closed with its owner; negative: opening failed. A pipe that stands in a file's place is
// not waited for.
class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0644)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }

 private:
  const int fd_;
};

// Of the call that has just failed.
absl::Status SystemError(const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("checkpoint (--checkpoint): ", path));
}

absl::Status SyncFolder(const fs::path& path) {
  const std::string name = path.empty() ? "." : path.string();
  const File folder(name, O_RDONLY | O_DIRECTORY);
  return folder.fd() >= 0 && fsync(folder.fd()) == 0 ? absl::OkStatus() : SystemError(name);
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// False at a failure, and where the file is shorter than `bytes`, with errno as EIO.
bool ReadAll(int fd, std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

absl::Status WriteDurably(const std::string& path, std::string_view bytes) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.fd() < 0 || !WriteAll(file.fd(), bytes) || fsync(file.fd()) != 0) return SystemError(path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckpointFolder> CheckpointFolder::Open(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path, error);
  if (!error && fs::create_directories(folder, error)) {
    ABSL_RETURN_IF_ERROR(SyncFolder(folder.parent_path()));
  }
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("checkpoint (--checkpoint): ", path));
  if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0) return SystemError(path);
  absl::StatusOr<FileLock> lock = FileLock::Take((folder / "checkpoint.lock").string());
  if (lock.ok()) return CheckpointFolder(folder, *std::move(lock));
  const bool held = absl::IsFailedPrecondition(lock.status());
  return absl::Status(lock.status().code(),
                      absl::StrCat("checkpoint (--checkpoint): ", held ? path + " is in use by " : "",
                                   lock.status().message()));
}

absl::StatusOr<std::optional<std::string>> CheckpointFolder::ReadFile(const std::string& file) {
  const File opened(file, O_RDONLY);
  if (opened.fd() < 0 && errno == ENOENT) return std::nullopt;
  struct stat status {};
  if (opened.fd() < 0 || fstat(opened.fd(), &status) != 0) return SystemError(file);
  if (!S_ISREG(status.st_mode)) return absl::DataLossError(absl::StrCat(file, " is not a plain file"));
  if (status.st_size == 0) {
    return absl::DataLossError(
        absl::StrCat(file, " is corrupt: it is empty; delete it, or restore it from a copy"));
  }
  if (status.st_size > kMaxBytes) {
    return absl::DataLossError(
        absl::StrCat(file, " is no checkpoint: it has ", status.st_size, " bytes, of at most ", kMaxBytes));
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (!ReadAll(opened.fd(), bytes)) return SystemError(file);
  return bytes;
}

absl::Status CheckpointFolder::Write(std::string_view bytes) const {
  if (bytes.size() > std::size_t{kMaxBytes}) {
    return absl::ResourceExhaustedError(absl::StrCat(file(), " would have ", bytes.size(),
                                                     " bytes, of at most ", kMaxBytes,
                                                     "; the former checkpoint stays"));
  }
  const std::string unfinished = file() + ".unfinished";
  absl::Status status = WriteDurably(unfinished, bytes);
  if (status.ok() && std::rename(unfinished.c_str(), file().c_str()) != 0) status = SystemError(file());
  if (status.ok()) return SyncFolder(path_);
  unlink(unfinished.c_str());
  return status;
}

absl::StatusOr<bool> CheckpointFolder::SetAside() const {
  if (std::rename(file().c_str(), (file() + ".before").c_str()) == 0) {
    ABSL_RETURN_IF_ERROR(SyncFolder(path_));
    return true;
  }
  if (errno == ENOENT) return false;
  return SystemError(file());
}

}  // namespace packtrain::trainer
