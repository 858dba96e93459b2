// The checked decoder of batches: from the messages of a stream to wire::Batch.
//
//   BatchAssembler assembler(max_body_bytes);
//   while (stream.Read(&message)) {
//     ABSL_ASSIGN_OR_RETURN(std::optional<Batch> batch, assembler.Add(FragmentsOf(message)));
//     if (batch.has_value()) Use(*std::move(batch));
//   }
#ifndef PACKTRAIN_PROTO_WIRE_BATCH_ASSEMBLER_H_
#define PACKTRAIN_PROTO_WIRE_BATCH_ASSEMBLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "proto/wire/aligned_bytes.h"
#include "proto/wire/batch.h"
#include "proto/wire/batch_layout.h"
#include "proto/wire/body_pool.h"

namespace google::protobuf::io {
class CodedInputStream;
}

namespace packtrain::wire {

struct PartFields;

// A piece of a message as it was received: of any size, at any address.
using Fragment = std::span<const std::byte>;

// Used by one thread. No input is trusted; unknown fields are skipped.
class BatchAssembler {
 public:
  // Bodies above `max_body_bytes` are refused before any memory is taken for them.
  explicit BatchAssembler(std::uint64_t max_body_bytes)
      : max_body_bytes_(max_body_bytes), bodies_(BodyPool::Create(kMaxKeptBodyBytes)) {}

  // Takes the next message, whose fragments are borrowed for the call, and copies its body once. Returns
  // the batch with its last part, checked in full (CheckHeader, CRC32C, CheckContent), else nullopt.
  //
  // DATA_LOSS: the bytes are not a part of a batch, or not the next one; the message says how.
  // RESOURCE_EXHAUSTED: the body is above the limit, or there is no memory for it. After an error, as after
  // Reset, the assembler waits for the first part of a batch.
  absl::StatusOr<std::optional<Batch>> Add(std::span<const Fragment> message);

  // Drops the parts gathered so far.
  void Reset() { pending_.reset(); }

  // Whether it is between two batches: no part of the next one has arrived.
  bool idle() const { return !pending_.has_value(); }

  // How many bodies were held against their CRC32C so far, those that did not match included.
  std::uint64_t body_checks() const { return body_checks_; }

 private:
  // A batch of which parts are missing.
  struct Pending {
    BatchHeader header;
    BatchTiming timing;
    AlignedBytes body;
    std::uint64_t received_bytes = 0;
    std::uint32_t crc32c = 0;
    std::uint32_t next_part = 0;
  };

  absl::StatusOr<std::optional<Batch>> AddChecked(std::span<const Fragment> message);
  absl::Status Begin(const PartFields& part);
  absl::Status CheckNext(const PartFields& part) const;
  // Copies the body that follows in `input`, fragment by fragment, while each is in the cache.
  void TakeBody(google::protobuf::io::CodedInputStream* input, std::uint64_t size);
  absl::StatusOr<Batch> Complete();

  const std::uint64_t max_body_bytes_;
  const std::shared_ptr<BodyPool> bodies_;
  std::optional<Pending> pending_;
  std::uint64_t body_checks_ = 0;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BATCH_ASSEMBLER_H_
