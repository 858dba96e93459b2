#include "client/ingest/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kHeadBytes = 16;

absl::Status ErrnoStatus(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES) return absl::PermissionDeniedError(message);
  return absl::InvalidArgumentError(message);
}

}  // namespace

absl::StatusOr<std::shared_ptr<DiskFile>> DiskFile::Open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ErrnoStatus(path, errno);
  std::shared_ptr<DiskFile> file(new DiskFile(path, descriptor));
  ABSL_RETURN_IF_ERROR(file->Fill());
  return file;
}

DiskFile::DiskFile(std::string path, int descriptor)
    : PackedBytes(std::move(path)), descriptor_(descriptor), buffer_(kBufferBytes) {
  struct stat status {};
  is_regular_ = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_regular_) size_ = static_cast<std::uint64_t>(status.st_size);
}

DiskFile::~DiskFile() { ::close(descriptor_); }

// The first bytes, by which a file is known, come together even where a pipe gives them one by one.
absl::Status DiskFile::Read(std::span<const char>* bytes) {
  consumed_bytes_.store(read_bytes_, std::memory_order_relaxed);
  std::size_t count = 0;
  while (true) {
    const ssize_t more = ::read(descriptor_, buffer_.data() + count, buffer_.size() - count);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return ErrnoStatus(path(), errno);
    count += static_cast<std::size_t>(more);
    if (more == 0 || read_bytes_ + count >= kHeadBytes) break;
  }
  *bytes = {buffer_.data(), count};
  read_bytes_ += count;
  hash_.Update(std::as_bytes(*bytes));
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> DiskFile::ReadAt(std::uint64_t offset, std::span<char> out) {
  ssize_t count;
  do {
    count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return ErrnoStatus(path(), errno);
  consumed_bytes_.store(offset, std::memory_order_relaxed);
  return static_cast<std::size_t>(count);
}

absl::StatusOr<v1::SourceFile> DiskFile::Describe() {
  do {
    Consume(available().size());
    ABSL_RETURN_IF_ERROR(Fill());
  } while (!available().empty());
  v1::SourceFile file;
  file.set_name(path());
  file.set_bytes(read_bytes_);
  file.set_sha256(hash_.HexDigest());
  return file;
}

}  // namespace packtrain::ingest
