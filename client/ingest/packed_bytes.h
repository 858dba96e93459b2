// Bytes as they lie in a file or in an archive, before anything is unpacked.
#ifndef PACKTRAIN_CLIENT_INGEST_PACKED_BYTES_H_
#define PACKTRAIN_CLIENT_INGEST_PACKED_BYTES_H_

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace packtrain::ingest {

// One buffer ahead of whoever reads. Used by one thread.
class PackedBytes {
 public:
  virtual ~PackedBytes() = default;

  // For messages: FILE, or ARCHIVE/MEMBER.
  const std::string& path() const { return path_; }

  // Reads on where nothing is available. Refusals as of ByteSource::Read.
  absl::Status Fill() { return available_.empty() ? Read(&available_) : absl::OkStatus(); }
  // What was read and not consumed; empty behind Fill at the end.
  std::span<const char> available() const { return available_; }
  void Consume(std::size_t count) { available_ = available_.subspan(count); }

 protected:
  explicit PackedBytes(std::string path) : path_(std::move(path)) {}

 private:
  // The next bytes, valid until the next call; empty at the end.
  virtual absl::Status Read(std::span<const char>* bytes) = 0;

  const std::string path_;
  std::span<const char> available_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_PACKED_BYTES_H_
