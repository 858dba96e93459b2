#include "server/storage/synced_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

// Of the system's error; 0: none.
absl::Status ToStatus(int error, const fs::path& file) {
  if (error == 0) return absl::OkStatus();
  return rocks::ToStatus(error, absl::StrCat("writing ", file.string()));
}

// These three return the system's error; 0: none.
int WriteAndSync(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

int Write(const fs::path& file, int flags, std::string_view text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0644);
  if (fd < 0) return errno;
  const int error = WriteAndSync(fd, text);
  ::close(fd);
  return error;
}

int Sync(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  return error;
}

}  // namespace

absl::Status ReplaceFile(const fs::path& file, std::string_view text) {
  const fs::path made = file.string() + ".new";
  int error = Write(made, O_TRUNC, text);
  if (error == 0 && ::rename(made.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) error = Sync(file.parent_path());
  if (error != 0) ::unlink(made.c_str());
  return ToStatus(error, file);
}

absl::Status AppendToFile(const fs::path& file, std::string_view text) {
  return ToStatus(Write(file, O_APPEND, text), file);
}

absl::Status SyncFolder(const fs::path& folder) { return ToStatus(Sync(folder), folder); }

}  // namespace packtrain::storage
