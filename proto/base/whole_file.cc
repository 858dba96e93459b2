#include "proto/base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

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

// Whether it stands for an open file: one of /proc/PID/fd, or a link to one.
bool IsOpenFile(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(path.parent_path(), error);
  const std::filesystem::path link = std::filesystem::read_symlink(path, error);
  return folder.native().starts_with("/proc/") || link.native().starts_with("/proc/");
}

// Where a link leads, also one that leads nowhere yet.
std::string Followed(std::string path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
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
  if (std::filesystem::is_other(there) || IsOpenFile(path)) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
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
