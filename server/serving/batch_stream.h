// One open StreamBatches call.
#ifndef PACKTRAIN_SERVER_SERVING_BATCH_STREAM_H_
#define PACKTRAIN_SERVER_SERVING_BATCH_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/base/mutex.h"
#include "proto/wire/batch_encoder.h"
#include "server/batches/batch_sequence.h"
#include "server/batches/damage_log.h"
#include "server/batches/resident_datasets.h"
#include "server/metrics/batch_tally.h"
#include "server/serving/idle_watch.h"

namespace packtrain::serving {

// What all streams of a server share; everything outlives them.
struct StreamEnvironment {
  storage::GraphStore& store;
  batches::ResidentDatasets& residents;
  batches::PlanCache& plans;
  batches::SharedBatches& shared;
  batches::WorkerPool& builders;
  // Plans coming epochs, so that no builder stands still for it.
  batches::WorkerPool& planners;
  batches::DamageLog& damage;
  batches::BodyMemory memory;
  std::uint64_t max_batch_bytes = 0;
  // Upper limit of a part, whatever the client takes.
  std::uint32_t max_part_bytes = 0;
};

// What a stream builds ahead where its batches are small, so that threads meet seldom.
inline constexpr std::uint64_t kStreamWindowBytes = 2 << 20;

// Batches that a stream builds before it lets others have its builder.
inline constexpr int kBatchesInTurn = 8;

// Writes one batch while the next are built: one, or small ones up to kStreamWindowBytes. A batch that is quick
// to build is built by the thread that writes it, once the one before is written: waking another thread, and
// fetching the body from that one's caches, would take longer. Others are built side by side, by as many of the
// pool's threads as have nothing else to do. Bodies are counted from the moment they are begun until gRPC has
// freed them, so that at most two of them and the window are alive, and a client that does not read stops the
// building and nothing else.
//
// gRPC's threads call the reactions, the pool's threads build what is not quick, any thread may drain: state is
// guarded, and no reaction blocks. Owns itself from Start to OnDone; a task or a body under way may keep the
// object a little longer, finished.
class BatchStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                          public std::enable_shared_from_this<BatchStream> {
 public:
  using OnDoneCallback = std::function<void(const std::shared_ptr<BatchStream>& stream)>;

  // `on_done` is called once, when gRPC has let go of the call.
  static std::shared_ptr<BatchStream> Create(const StreamEnvironment& environment,
                                             v1::StreamBatchesRequest request, OnDoneCallback on_done);

  // Takes the call: begins to build. `cut_off` ends it where the client leaves a part unread for the limit of
  // `idle`, which outlives the stream.
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
  struct ReadyBatch {
    batches::BuiltBatch batch;
    std::string header;  // as it is sent
    std::chrono::nanoseconds build_time{0};
    std::chrono::steady_clock::time_point complete;
  };
  // A batch that the stream has stepped to, in the order in which they are sent.
  struct Place {
    std::optional<absl::StatusOr<ReadyBatch>> built;  // guarded by the stream's mutex_
  };
  struct Sending {
    std::shared_ptr<const std::byte> body;
    std::vector<wire::EncodedPart> parts;
    std::size_t next = 0;  // part
  };
  // What a step leaves behind. Freed without the lock, because freeing a body comes back to BodyFreed.
  struct Leftovers {
    std::deque<std::shared_ptr<Place>> places;
    std::optional<Sending> sending;
    grpc::ByteBuffer message;
  };

  BatchStream(const StreamEnvironment& environment, v1::StreamBatchesRequest request, OnDoneCallback on_done);

  // On a builder's thread: builds while there is room, and for a while where others wait for the thread.
  void Build();
  // By who has the turn, and gives it up. Whether to build another at once: the turn is the caller's again.
  bool BuildOne();
  // Leaves the turn to the pool.
  void GoOnBuilding();
  // By a builder who has the turn and has built so many, while others wait for the pool's threads. Whether its
  // thread is theirs now: that of one of several builders at once.
  bool GivesWay(int built);
  absl::StatusOr<std::optional<batches::BatchSequence::Planned>> TakeNext();
  absl::Status OpenSequence();
  // Gives the turn up, for a place of the batch that was taken, if it is to be built.
  std::shared_ptr<Place> TakePlace(const absl::StatusOr<std::optional<batches::BatchSequence::Planned>>& next);
  absl::StatusOr<ReadyBatch> BuildPlanned(const batches::BatchSequence::Planned& planned) const;
  // Whether the builder is to build another, for which it has the turn then.
  bool FillPlace(Place& place, absl::StatusOr<ReadyBatch> built, std::uint64_t reserved_bytes);
  // Counts the body here until gRPC has freed it.
  void Track(batches::BuiltBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // gRPC calls it in the middle of its own work: starts no operation of the call.
  void BodyFreed(std::uint64_t bytes);
  // Starts whatever may be started now; builds the next batch itself where that is quick.
  void Advance();
  // Whether the caller, who has nothing to write, is to build a batch, for which it has the turn then.
  bool TakesBuild() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Posts a builder where there is none, and one more where a thread has nothing else to do.
  void PostBuild() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a batch is wanted, and the bodies alive leave room for it below `window_bytes`.
  bool MayBuild(std::uint64_t window_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes `message_` the next part; false where there is none to write.
  bool PrepareWrite(Leftovers& leftovers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the first batch that is ready the one being sent.
  void TakeReady(Leftovers& leftovers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Why the stream ends here, if it does.
  std::optional<absl::Status> EndReached() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const StreamEnvironment environment_;
  const v1::StreamBatchesRequest request_;
  const OnDoneCallback on_done_;
  std::shared_ptr<BatchStream> self_;      // set from Start to OnDone
  std::optional<IdleWatch::Call> unread_;  // the same

  // Set by the first to have the turn, who alone steps through it.
  std::unique_ptr<batches::BatchSequence> sequence_;

  // Used by the one write under way.
  grpc::ByteBuffer message_;

  mutable base::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool turn_ ABSL_GUARDED_BY(mutex_) = false;   // somebody has it, or is posted to take it
  int builders_ ABSL_GUARDED_BY(mutex_) = 0;    // posted or at work
  bool quick_ ABSL_GUARDED_BY(mutex_) = false;  // the next batch
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  // Bodies alive: being built, waiting, being sent, or not yet freed by gRPC; and what they hold.
  int bodies_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::shared_ptr<Place>> places_ ABSL_GUARDED_BY(mutex_);
  std::optional<Sending> sending_ ABSL_GUARDED_BY(mutex_);
  // Set when the sequence has ended or anything failed: how to finish after what has a place.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  metrics::Series series_ ABSL_GUARDED_BY(mutex_);
  metrics::BatchTally sent_ ABSL_GUARDED_BY(mutex_);
  absl::Status told_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_BATCH_STREAM_H_
