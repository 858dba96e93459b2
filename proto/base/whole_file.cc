#include "proto/base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::base {
namespace {

std::string PartialOf(const std::string& path) { return path + ".partial"; }

absl::Status CannotWrite(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", std::string(why)));
}

constexpr mode_t kAsTheUserHasIt = 0666;  // less the umask

// In the folder of `path`; null where there can be no files without a name.
std::FILE* OpenUnnamed(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const char* const where = folder.empty() ? "." : folder.c_str();
  if (::access("/proc/self/fd", X_OK) != 0) return nullptr;  // by which it gets its name
  const int fd = ::open(where, O_TMPFILE | O_WRONLY | O_CLOEXEC, kAsTheUserHasIt);
  if (fd < 0) return nullptr;
  std::FILE* const file = ::fdopen(fd, "wb");
  if (file == nullptr) ::close(fd);
  return file;
}

// The open file in /proc/PID/fd that `path` names, or links to as /dev/stdout does; empty where it does
// neither.
std::filesystem::path OpenFileOf(const std::filesystem::path& path) {
  std::error_code error;
  for (const std::filesystem::path& named : {path, std::filesystem::read_symlink(path, error)}) {
    const std::filesystem::path folder = std::filesystem::weakly_canonical(named.parent_path(), error);
    if (folder.native().starts_with("/proc/")) return folder / named.filename();
  }
  return {};
}

// The number of a descriptor of this program; -1 where it is another's.
int OwnDescriptor(const std::filesystem::path& open_file) {
  std::error_code error;
  int number = -1;
  if (open_file.parent_path() != std::filesystem::weakly_canonical("/proc/self/fd", error)) return -1;
  return absl::SimpleAtoi(open_file.filename().native(), &number) ? number : -1;
}

// Whether the program was given it: those that it opens itself are closed where a program starts.
bool IsInherited(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

bool IsWritable(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY; }

// Written to where its writer stands, else behind what it holds. Null, as fopen, where it cannot be written.
std::FILE* OpenAsItIs(const std::filesystem::path& path, const std::filesystem::path& open_file) {
  const int own = OwnDescriptor(open_file);
  if (own >= 0 && !IsInherited(own)) {
    errno = EBADF;
    return nullptr;
  }
  if (own < 0 || !IsWritable(own)) return std::fopen(path.c_str(), "ab");
  const int copy = ::fcntl(own, F_DUPFD_CLOEXEC, 0);
  std::FILE* const file = copy < 0 ? nullptr : ::fdopen(copy, "wb");
  if (file == nullptr && copy >= 0) ::close(copy);
  return file;
}

constexpr int kMaxLinks = 40;  // as Linux follows

// Where a link leads, also one that leads to no file yet.
std::string Followed(std::string path) {
  std::error_code error;
  for (int links = 0; links < kMaxLinks && std::filesystem::is_symlink(path, error); ++links) {
    path = std::filesystem::path(path).parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path;
}

}  // namespace

WholeFile::WholeFile(std::string path, std::FILE* file, Place place)
    : path_(std::move(path)), partial_(PartialOf(path_)), file_(file), place_(place) {}

WholeFile::~WholeFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::error_code ignored;
  if (place_ == Place::kPartial) std::filesystem::remove(partial_, ignored);
}

absl::StatusOr<std::unique_ptr<WholeFile>> WholeFile::Create(std::string path) {
  if (path == "-") return CannotWrite(path, "name a file; standard output is /dev/stdout, and ./- such a file");
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(there)) return CannotWrite(path, "it is a folder");
  const std::filesystem::path open_file = OpenFileOf(path);
  if (std::filesystem::is_other(there) || !open_file.empty()) {
    std::FILE* const file = OpenAsItIs(path, open_file);
    return Of(std::move(path), file, Place::kAsItIs);
  }
  path = Followed(std::move(path));
  Place place = Place::kUnnamed;
  std::FILE* file = OpenUnnamed(path);
  if (file == nullptr) {
    place = Place::kPartial;
    file = std::fopen(PartialOf(path).c_str(), "wb");
  }
  // It takes the place of one that only some may read.
  const bool replaces = file != nullptr && std::filesystem::is_regular_file(there);
  if (replaces) (void)::fchmod(::fileno(file), static_cast<mode_t>(there.permissions()));
  return Of(std::move(path), file, place);
}

absl::StatusOr<std::unique_ptr<WholeFile>> WholeFile::Of(std::string path, std::FILE* file, Place place) {
  if (file == nullptr) return CannotWrite(path, std::strerror(errno));
  return std::unique_ptr<WholeFile>(new WholeFile(std::move(path), file, place));
}

bool WholeFile::IsStandardOutput() const {
  struct stat own {
  }, standard{};
  return ::fstat(::fileno(file_), &own) == 0 && ::fstat(STDOUT_FILENO, &standard) == 0 &&
         own.st_dev == standard.st_dev && own.st_ino == standard.st_ino;
}

absl::Status WholeFile::Failed() const { return CannotWrite(path_, std::strerror(errno)); }

absl::Status WholeFile::Write(std::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() ? absl::OkStatus() : Failed();
}

// A file cannot be linked over another one, hence not at once as PATH.
absl::Status WholeFile::GiveName() {
  if (place_ == Place::kPartial) return absl::OkStatus();
  ::unlink(partial_.c_str());
  const std::string held = absl::StrCat("/proc/self/fd/", ::fileno(file_));
  if (::linkat(AT_FDCWD, held.c_str(), AT_FDCWD, partial_.c_str(), AT_SYMLINK_FOLLOW) != 0) return Failed();
  place_ = Place::kPartial;
  return absl::OkStatus();
}

absl::Status WholeFile::Commit() {
  if (std::fflush(file_) != 0) return Failed();
  if (place_ == Place::kAsItIs) return absl::OkStatus();
  if (::fsync(::fileno(file_)) != 0) return Failed();
  ABSL_RETURN_IF_ERROR(GiveName());
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) return CannotWrite(path_, error.message());
  std::fclose(std::exchange(file_, nullptr));
  return absl::OkStatus();
}

}  // namespace packtrain::base
