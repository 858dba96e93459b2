// Bytes of a file, unpacked where it is gzip.
#ifndef PACKTRAIN_CLIENT_INGEST_BYTE_SOURCE_H_
#define PACKTRAIN_CLIENT_INGEST_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packtrain::ingest {

// What a file lay on disk as.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::string sha256;  // hexadecimal
};

// Used by one thread.
class ByteSource {
 public:
  // Opens `path`. Gzip is known by its first bytes, not by the name; members may follow each other.
  // NOT_FOUND, PERMISSION_DENIED, or INVALID_ARGUMENT for a folder.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(const std::string& path,
                                                          std::uint64_t max_unpacked_bytes);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& path() const;

  // Fills the front of `out` (not empty) and returns how much; 0 at the end. Refusals: "truncated_gzip",
  // "corrupt_gzip", "unpacked_limit" (more than `max_unpacked_bytes` unpacked). Every later call fails alike.
  absl::StatusOr<std::size_t> Read(std::span<char> out);

  // Bytes on disk consumed so far.
  std::uint64_t consumed_bytes() const;

  // Reads what is left of the file as it lies, and describes the whole. Nothing may be read afterwards.
  absl::StatusOr<FileDigest> Digest();

 private:
  class File;
  class Inflater;

  ByteSource(std::unique_ptr<File> file, std::uint64_t max_unpacked_bytes);

  absl::StatusOr<std::size_t> ReadUnchecked(std::span<char> out);
  absl::Status FailWith(absl::Status status);

  std::unique_ptr<File> file_;
  std::unique_ptr<Inflater> inflater_;  // null: plain
  std::uint64_t max_unpacked_bytes_;
  std::uint64_t unpacked_bytes_ = 0;
  absl::Status failure_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_BYTE_SOURCE_H_
