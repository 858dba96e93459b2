// Bytes of a file or of a member of an archive, unpacked where they are gzip or xz.
#ifndef PACKTRAIN_CLIENT_INGEST_BYTE_SOURCE_H_
#define PACKTRAIN_CLIENT_INGEST_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/packed_bytes.h"
#include "client/ingest/unpacker.h"

namespace packtrain::ingest {

// How many bytes may still be unpacked, by all that share it. Used by one thread at a time.
class UnpackBudget {
 public:
  explicit UnpackBudget(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // How many of `bytes` are within what was left.
  std::uint64_t Spend(std::uint64_t bytes);
  // The refusal "unpacked_limit" of `path`, which was to have more than was left.
  absl::Status Exceeded(const std::string& path) const;
  bool is_exceeded() const { return spent_bytes_ > max_bytes_; }

 private:
  const std::uint64_t max_bytes_;
  std::uint64_t spent_bytes_ = 0;
};

// Used by one thread at a time.
class ByteSource {
 public:
  // What the first bytes say; kOther is refused by Read.
  enum class Content { kData, kTar, kZip, kOther };

  // Opens a file. Gzip and xz are known by their first bytes, not by the name; members may follow each other.
  // NOT_FOUND, PERMISSION_DENIED, or INVALID_ARGUMENT for a folder.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(const std::string& path,
                                                          std::uint64_t max_unpacked_bytes);
  // `packed` has not been consumed yet.
  ByteSource(std::shared_ptr<PackedBytes> packed, std::shared_ptr<UnpackBudget> budget);
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& path() const { return packed_->path(); }
  Content content() const { return content_; }

  // Fills the front of `out` (not empty) and returns how much; 0 at the end. Every call behind a failure fails
  // alike. Refusals:
  // - "truncated_gzip", "corrupt_gzip", "truncated_xz", "corrupt_xz", "xz_memory", "unpacked_limit";
  // - of a member of an archive: "truncated_archive", "corrupt_archive";
  // - what is no data, by its first bytes: "git_lfs_pointer", "utf16_text", "unread_packing" (bzip2, zstd ...),
  //   "archive" (one where none can be read).
  absl::StatusOr<std::size_t> Read(std::span<char> out);
  // As Read, without the last group: for whoever can read an archive.
  absl::StatusOr<std::size_t> ReadArchive(std::span<char> out);

 private:
  absl::StatusOr<std::size_t> ReadOn(std::span<char> out);
  void ReadHead();

  const std::shared_ptr<PackedBytes> packed_;
  const std::shared_ptr<UnpackBudget> budget_;
  const std::unique_ptr<Unpacker> unpacker_;
  std::vector<char> head_;  // the first bytes
  std::size_t head_read_ = 0;
  Content content_ = Content::kData;
  absl::Status no_data_;
  absl::Status failure_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_BYTE_SOURCE_H_
