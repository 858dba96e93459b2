#include "client/internal/record_spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {
namespace {

// In front of a block's request, as it lies in memory: no other process reads it.
struct BlockHead {
  std::uint32_t kind = 0;
  std::uint32_t records = 0;
  std::uint64_t end = 0;
  std::uint64_t size = 0;  // of the request
  std::uint32_t crc = 0;   // of this head, its crc 0, and the request
  std::uint32_t padding = 0;
};

constexpr std::uint64_t kPageBytes = 4'096;

std::uint32_t CrcOf(BlockHead head, std::string_view request) {
  head.crc = 0;
  const std::uint32_t crc = base::Crc32c(std::as_bytes(std::span(&head, 1)));
  return base::ExtendCrc32c(crc, std::as_bytes(std::span(request.data(), request.size())));
}

std::string Encode(const SpooledBlock& block) {
  BlockHead head{.kind = block.kind, .records = block.records, .end = block.end, .size = block.request.size()};
  head.crc = CrcOf(head, block.request);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
  return bytes += block.request;
}

// Opened, and without a name; negative: it cannot be made in this folder.
int OpenNameless(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  // A file system that knows no files without names.
  std::string path = folder + "/packtrain-records-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

// The error; 0: all is written.
int WriteAll(int fd, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

bool ReadAll(int fd, void* data, std::size_t size, std::uint64_t offset) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t read = pread(fd, bytes, size, static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return false;
    bytes += read;
    size -= static_cast<std::size_t>(read);
    offset += static_cast<std::uint64_t>(read);
  }
  return true;
}

absl::Status NotWhatWasWritten() { return absl::DataLossError("the file of unsent records is corrupt"); }

}  // namespace

RecordSpool::~RecordSpool() {
  base::MutexLock lock(mutex_);
  if (fd_ >= 0) close(fd_);
}

absl::Status RecordSpool::Append(const SpooledBlock& block) {
  const std::string bytes = Encode(block);
  base::MutexLock lock(mutex_);
  ABSL_RETURN_IF_ERROR(CheckRoom(bytes.size()));
  ABSL_RETURN_IF_ERROR(EnsureFile());
  // What a write leaves that is cut short lies behind the end, and the next one goes over it.
  if (const int error = WriteAll(fd_, bytes, end_ - file_); error != 0) {
    return absl::ErrnoToStatus(error, "the file of unsent records");
  }
  end_ += bytes.size();
  return absl::OkStatus();
}

absl::StatusOr<SpooledBlock> RecordSpool::Front() const {
  base::MutexLock lock(mutex_);
  if (begin_ == end_) return absl::NotFoundError("no records are in the file");
  return Read(begin_);
}

void RecordSpool::Pop() {
  base::MutexLock lock(mutex_);
  BlockHead head;
  if (begin_ == end_ || !ReadAll(fd_, &head, sizeof(head), begin_ - file_)) return;
  begin_ += sizeof(head) + head.size;
  FreeFront();
}

void RecordSpool::Clear() {
  base::MutexLock lock(mutex_);
  begin_ = end_;
  FreeFront();
}

absl::Status RecordSpool::ForEach(absl::FunctionRef<void(const SpooledBlock&)> take) const {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
  {
    base::MutexLock lock(mutex_);
    end = end_;
  }
  absl::StatusOr<SpooledBlock> block = Next(offset, end);
  for (; block.ok(); block = Next(offset, end)) take(*block);
  return absl::IsNotFound(block.status()) ? absl::OkStatus() : block.status();
}

// The oldest block that is there from `offset` on, which then is that behind it. NOT_FOUND: there is none
// before `end`.
absl::StatusOr<SpooledBlock> RecordSpool::Next(std::uint64_t& offset, std::uint64_t end) const {
  base::MutexLock lock(mutex_);
  offset = std::max(offset, begin_);
  if (offset >= end) return absl::NotFoundError("no more records are in the file");
  absl::StatusOr<SpooledBlock> block = Read(offset);
  if (block.ok()) offset += sizeof(BlockHead) + block->request.size();
  return block;
}

absl::Status RecordSpool::EnsureFile() {
  if (fd_ >= 0) return absl::OkStatus();
  if (!options_.folder.empty()) fd_ = OpenNameless(options_.folder);
  if (fd_ >= 0) return absl::OkStatus();
  std::error_code error;
  const std::string temporary = std::filesystem::temp_directory_path(error).string();
  if (error) return absl::FailedPreconditionError(absl::StrCat("$TMPDIR: ", error.message()));
  fd_ = OpenNameless(temporary);
  return fd_ >= 0 ? absl::OkStatus() : absl::ErrnoToStatus(errno, absl::StrCat("a file in ", temporary));
}

absl::Status RecordSpool::CheckRoom(std::uint64_t bytes) const {
  const std::uint64_t used = end_ - freed_;
  if (bytes <= options_.max_bytes && used <= options_.max_bytes - bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the file of unsent records has ", used, " of at most ",
                                                   options_.max_bytes, " bytes (--report-spool-bytes)"));
}

absl::StatusOr<SpooledBlock> RecordSpool::Read(std::uint64_t offset) const {
  BlockHead head;
  if (!ReadAll(fd_, &head, sizeof(head), offset - file_)) return NotWhatWasWritten();
  if (head.size > end_ - offset - sizeof(head)) return NotWhatWasWritten();
  SpooledBlock block{.kind = head.kind, .records = head.records, .end = head.end};
  block.request.resize(head.size);
  if (!ReadAll(fd_, block.request.data(), head.size, offset - file_ + sizeof(head))) return NotWhatWasWritten();
  if (CrcOf(head, block.request) != head.crc) return NotWhatWasWritten();
  return block;
}

// Where the file system frees no part of a file, an empty one still takes no space.
void RecordSpool::FreeFront() {
  if (begin_ == end_) {
    if (fd_ >= 0 && ftruncate(fd_, 0) == 0) file_ = freed_ = end_;
    return;
  }
  const std::uint64_t whole_pages = file_ + (begin_ - file_) / kPageBytes * kPageBytes;
  if (whole_pages <= freed_) return;
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(freed_ - file_),
                static_cast<off_t>(whole_pages - freed_)) == 0) {
    freed_ = whole_pages;
  }
}

}  // namespace packtrain::client
