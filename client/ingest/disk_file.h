// A file as it lies on disk.
#ifndef PACKTRAIN_CLIENT_INGEST_DISK_FILE_H_
#define PACKTRAIN_CLIENT_INGEST_DISK_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/packed_bytes.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/content_hash.h"

namespace packtrain::ingest {

// Hashes all that passes. Used by one thread at a time; consumed_bytes by any.
class DiskFile final : public PackedBytes {
 public:
  // NOT_FOUND, PERMISSION_DENIED, or INVALID_ARGUMENT for a folder.
  static absl::StatusOr<std::shared_ptr<DiskFile>> Open(const std::string& path);
  ~DiskFile() override;
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  // Whether any part can be read, and its size is known; a pipe is not.
  bool is_regular() const { return is_regular_; }
  std::uint64_t size() const { return size_; }

  // For a regular file: reads at `offset`, beside what Fill reads; 0 at the end.
  absl::StatusOr<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out);

  // How far it was read, for progress.
  std::uint64_t consumed_bytes() const { return consumed_bytes_.load(std::memory_order_relaxed); }

  // Reads what is left and describes the whole. Nothing may be read afterwards.
  absl::StatusOr<v1::SourceFile> Describe();

 private:
  DiskFile(std::string path, int descriptor);

  absl::Status Read(std::span<const char>* bytes) override;

  const int descriptor_;
  bool is_regular_ = false;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
  std::uint64_t read_bytes_ = 0;
  std::atomic<std::uint64_t> consumed_bytes_ = 0;
  base::Sha256 hash_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_DISK_FILE_H_
