// Unpacks a stream of bytes that is gzip, xz or plain.
#ifndef PACKTRAIN_CLIENT_INGEST_UNPACKER_H_
#define PACKTRAIN_CLIENT_INGEST_UNPACKER_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "client/ingest/packed_bytes.h"

namespace packtrain::ingest {

// Used by one thread.
class Unpacker {
 public:
  // By the first bytes of `packed`, which are available, not by its name.
  static std::unique_ptr<Unpacker> For(const PackedBytes& packed);
  virtual ~Unpacker() = default;

  // Fills the front of `out` (not empty) from `packed`, which is the same at each call, and returns how much; 0
  // at the end. Refusals: "truncated_gzip", "corrupt_gzip", "truncated_xz", "corrupt_xz", "xz_memory".
  virtual absl::StatusOr<std::size_t> Read(PackedBytes& packed, std::span<char> out) = 0;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_UNPACKER_H_
