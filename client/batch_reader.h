// Reads one rank's batches from a server, in order, over as many epochs as asked for.
//
// For trainers, and whoever else uses batches. It reconnects by itself: a caller sees the next batch, the end,
// or an error that no further attempt would mend.
//
//   ABSL_ASSIGN_OR_RETURN(const auto reader, BatchReader::Open(connection, {.dataset = "qm9", .spec = spec}));
//   for (;;) {
//     ABSL_ASSIGN_OR_RETURN(const std::optional<wire::Batch> batch, reader->Next());
//     if (!batch.has_value()) break;
//     Train(*batch);
//   }
#ifndef PACKTRAIN_CLIENT_BATCH_READER_H_
#define PACKTRAIN_CLIENT_BATCH_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/connection.h"
#include "proto/wire/batch.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/world.h"

namespace packtrain::client {

// What becomes of a graph that the server finds corrupt; see OnCorrupt in packtrain/v1/batch.proto.
enum class OnCorrupt : std::uint8_t {
  kStop,  // the stream ends with DATA_LOSS
  kSkip,  // its batch comes without it; BatchHeader::corrupt_graphs lists it
};

// How much is read ahead: up to `batches`, and no further once these have bodies of `bytes` or more.
struct ReadAhead {
  std::size_t batches = 1;
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
};

struct StreamRequest {
  std::string dataset;  // NAME or NAME@VERSION
  wire::BatchSpec spec;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint64_t start_epoch = 0;
  std::uint64_t start_step = 0;
  // What was trained of `start_epoch` before the number of ranks became `world_size`, in order; its steps are
  // no more than `start_step`.
  std::vector<wire::Segment> segments;
  std::uint64_t epochs = 0;          // 0: without end
  std::string expected_fingerprint;  // empty: any
  OnCorrupt on_corrupt = OnCorrupt::kStop;
  // Equal for a stream and the one for which it pauses, such as that of an evaluation: the server counts both
  // as one against its limit of streams. At random, 16 to 64 characters; empty: the stream has a place of its
  // own.
  std::string place = {};
  // Batches that lie ready while the next one is received. Of 0 batches, Next receives: that takes the least
  // work, and is for callers that have nothing else to do meanwhile.
  ReadAhead read_ahead;
};

// Used by one thread. A thread of its own receives, checks and copies ahead of it, unless nothing is read
// ahead.
class BatchReader {
 public:
  // Opens the stream; the first answer, or the server's refusal, comes with the first Next.
  static absl::StatusOr<std::unique_ptr<BatchReader>> Open(std::shared_ptr<Connection> connection,
                                                           const StreamRequest& request);
  virtual ~BatchReader() = default;

  // The next batch, checked (layout and CRC32C) and aligned; nullopt at the end of the last epoch.
  // Blocks. When the stream breaks it reconnects with jittered back-off and goes on at the same batch,
  // until Connection's `give_up` has passed: then UNAVAILABLE, naming the server. DATA_LOSS: what came is not
  // a valid batch, or not the one that was due; or a stored graph is corrupt and `on_corrupt` is kStop.
  // FAILED_PRECONDITION: the plan is no longer the same. Other codes are the server's; its limit of streams
  // is waited for until `give_up` where the plan is known already, by a batch or by the request, and where the
  // request has a place. After an
  // error, or the end, every call returns the same again.
  virtual absl::StatusOr<std::optional<wire::Batch>> Next() = 0;

  // How many bodies the reader has held against their CRC32C so far, of the batches that lie ready too. Any
  // thread may call it.
  virtual std::uint64_t body_checks() const = 0;

  // Ends the stream; a blocked Next returns CANCELLED. Any thread may call it.
  virtual void Cancel() = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_BATCH_READER_H_
