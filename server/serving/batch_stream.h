// One open StreamBatches call.
#ifndef PACKTRAIN_SERVER_SERVING_BATCH_STREAM_H_
#define PACKTRAIN_SERVER_SERVING_BATCH_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "proto/base/mutex.h"
#include "server/batches/build_ahead.h"
#include "server/metrics/batch_tally.h"
#include "server/serving/idle_watch.h"

namespace packtrain::serving {

// Writes what a BuildAhead gives, one message at a time, and finishes the call.
//
// gRPC's threads and those that build call it, any thread may drain: state is guarded, and no reaction blocks.
// Owns itself from Start to OnDone; a builder may keep the object a little longer, finished.
class BatchStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                          public std::enable_shared_from_this<BatchStream> {
 public:
  using OnDoneCallback = std::function<void(const std::shared_ptr<BatchStream>& stream)>;

  // `on_done` is called once, when gRPC has let go of the call.
  static std::shared_ptr<BatchStream> Create(const batches::StreamEnvironment& environment,
                                             batches::StreamRequest request, OnDoneCallback on_done);

  // Takes the call: begins to build. `cut_off` ends it where the client leaves a message unread for the limit
  // of `idle`, which outlives the stream.
  void Start(IdleWatch& idle, std::function<void()> cut_off);
  // Ends the stream with UNAVAILABLE once the batch being written is complete.
  void Drain();

  // What the stream has done so far. Any thread.
  struct Progress {
    metrics::Series series;  // empty until the first batch is built
    metrics::BatchTally sent;
    std::uint64_t queue_bytes = 0;  // of batches that are built and that gRPC has not freed
    absl::Status end;               // once gRPC has been told
  };
  Progress progress() const;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  explicit BatchStream(OnDoneCallback on_done) : on_done_(std::move(on_done)) {}

  // Starts whatever may be started now: a write, the end of the call, or the building of the next batch.
  void Advance();
  // Makes `message_` the next part; false where there is none to write. Then `end_` is set where the stream
  // ends.
  bool PrepareWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Why the stream ends whatever there is to send, if it does.
  std::optional<absl::Status> Interrupted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const OnDoneCallback on_done_;
  std::shared_ptr<batches::BuildAhead> ahead_;  // set by Create
  std::shared_ptr<BatchStream> self_;           // set from Start to OnDone
  std::optional<IdleWatch::Call> unread_;       // the same

  // Used by the one write under way.
  grpc::ByteBuffer message_;

  mutable base::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  // The batch in hand and its next part, until all of them are written.
  std::optional<batches::EncodedBatch> sending_ ABSL_GUARDED_BY(mutex_);
  std::size_t next_part_ ABSL_GUARDED_BY(mutex_) = 0;
  // Set when the call is finished, or is about to be.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_BATCH_STREAM_H_
