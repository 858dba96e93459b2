// The batches of one stream, built ahead of whoever sends them. Knows nothing of gRPC.
//
// When a batch is taken, the next ones are begun: as many as fit into a window of bytes, or one if batches are
// larger than that. Bodies count from the moment they are begun until their last reference is gone, so at most
// two of them and the window are alive, and a client that does not read stops the building and nothing else.
//
//   auto ahead = BuildAhead::Create(environment, *request, [&] { ready.Signal(); });
//   for (BuildAhead::Next next = ahead->Take(); !next.end; next = ahead->Take()) {
//     if (next.batch) Send(*std::move(next.batch));
//     else ahead->BuildMore(), ready.Await();
//   }
#ifndef PACKTRAIN_SERVER_BATCHES_BUILD_AHEAD_H_
#define PACKTRAIN_SERVER_BATCHES_BUILD_AHEAD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "proto/wire/batch_encoder.h"
#include "server/batches/batch_sequence.h"
#include "server/batches/stream_environment.h"
#include "server/batches/stream_request.h"
#include "server/metrics/batch_tally.h"

namespace packtrain::batches {

// Batches that a stream builds before it lets others have its builder.
inline constexpr int kBatchesInTurn = 8;

// A batch as it is sent: the parts' bodies are slices of `body`.
struct EncodedBatch {
  std::shared_ptr<const std::byte> body;
  std::vector<wire::EncodedPart> parts;
};

// One sender takes batches: it has one of them in hand at a time, and a batch that is quick to build is built
// by the sender's thread once it asks for the next one. To wake another thread, and to fetch the body from that
// one's caches, would take longer. Other batches are built side by side, by as many of the pool's threads as
// have nothing else to do, and are taken in order.
//
// Take and BuildMore are the sender's, on one thread at a time; Stop, progress and the release of bodies are
// anybody's. A task of the pool or a body keeps the object alive a little longer than its owner does.
class BuildAhead : public std::enable_shared_from_this<BuildAhead> {
 public:
  // `on_ready` is called after Take may have more to give than before: by the pool's threads or by the one that
  // is inside BuildMore, never under a lock of this class. It may call Take and BuildMore. `environment`
  // outlives the object and its tasks. Nothing is built before the first BuildMore.
  static std::shared_ptr<BuildAhead> Create(const StreamEnvironment& environment, StreamRequest request,
                                            std::function<void()> on_ready);

  // Neither is set where the next batch is not built yet.
  struct Next {
    std::optional<EncodedBatch> batch;
    // There is no further batch. OK: the sequence has ended. Codes as OpenSequence, BatchSequence::Next and
    // BatchSequence::Build.
    std::optional<absl::Status> end;
  };
  // By taking, the sender says that it has sent what it took before.
  Next Take();
  // Called by the sender after Take gave nothing. Builds the next batch if that is quick, else leaves it to the
  // pool.
  void BuildMore();
  // No further batch is begun, those that are built are dropped, and none waits for memory any more. Take is
  // not called any more.
  void Stop();

  struct Progress {
    metrics::Series series;  // empty until the sequence is open
    metrics::BatchTally taken;
    std::uint64_t held_bytes = 0;  // of batches that are begun and whose bodies are not yet freed
  };
  Progress progress() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct ReadyBatch {
    BuiltBatch batch;
    std::string header;  // as it is sent
    std::chrono::nanoseconds build_time{0};
    Clock::time_point complete;
  };
  // A batch that the sequence has stepped to. Guarded by mutex_.
  struct Place {
    std::optional<absl::StatusOr<ReadyBatch>> built;
    std::optional<limits::MemoryBudget::RequestId> request;  // for the memory that it waits for
    bool dropped = false;                                    // nobody takes the batch any more
  };
  using Places = std::deque<std::shared_ptr<Place>>;

  BuildAhead(const StreamEnvironment& environment, StreamRequest request, std::function<void()> on_ready);

  // Takes the built batch at the front, or how the stream ends. `dropped` gets what nobody takes any more.
  Next TakeFront(Places& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropPlaces(Places& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Frees them, and ends their waiting for memory. Without the lock, because both come back here.
  void Forget(const Places& dropped);

  // On a thread of the pool: builds while there is room, and for a while where others wait for the thread.
  void BuildInTurn();
  // By who has the turn. Whether the next step may have to wait for others: opening the data set, or planning.
  bool NextMayBlock() const { return sequence_ == nullptr || sequence_->NextNeedsPlan(); }
  // By who has the turn, and gives it up. True where another batch is to be built at once: the turn is the
  // caller's again.
  bool BuildOne();
  // By who has the turn: leaves it to the pool.
  void PostTurn();
  // On a thread that may wait, with the turn: does what may block, and leaves the rest to the pool.
  void PrepareTurn();
  absl::Status Prepare();
  // By a builder that has the turn and has built so many, while others wait for the pool's threads. Whether its
  // thread is theirs now: that of one of several builders at once.
  bool GivesWay(int built);
  bool IsStopped() const;
  // Gives the turn up, for a place of the batch that was taken; null where it is not to be built.
  std::shared_ptr<Place> TakePlace(const absl::StatusOr<std::optional<BatchSequence::Planned>>& next);
  absl::StatusOr<ReadyBatch> BuildPlanned(const BatchSequence::Planned& planned,
                                          limits::MemoryBudget::Reservation memory) const;
  // Leaves a batch for which there is no memory to the pool, once there is; no thread waits for it.
  void AwaitMemory(const std::shared_ptr<Place>& place, const BatchSequence::Planned& planned);
  void BuildWith(absl::StatusOr<limits::MemoryBudget::Reservation> memory, Place& place,
                 const BatchSequence::Planned& planned);
  // Whether the builder is to build another, for which it has the turn then.
  bool FillPlace(Place& place, absl::StatusOr<ReadyBatch> built, std::uint64_t reserved_bytes);
  // Counts the body until it is freed.
  void Track(BuiltBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BodyFreed(std::uint64_t bytes);

  // Encodes and counts the first place's batch, which is built.
  absl::StatusOr<EncodedBatch> TakeReady(absl::StatusOr<ReadyBatch>& built)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the sender is to build a batch, for which it has the turn then.
  bool SenderTakesTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Posts a builder where there is none, and one more where a thread has nothing else to do.
  void PostBuild() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a batch is wanted, and the bodies alive leave room for it below `window_bytes`.
  bool MayBuild(std::uint64_t window_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const StreamEnvironment environment_;
  const StreamRequest request_;
  const std::function<void()> on_ready_;

  // Set by the first to have the turn, who alone steps through it.
  std::unique_ptr<BatchSequence> sequence_;

  mutable base::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool sending_ ABSL_GUARDED_BY(mutex_) = false;  // the sender has a batch in hand
  bool turn_ ABSL_GUARDED_BY(mutex_) = false;     // somebody has it, or is posted to take it
  int builders_ ABSL_GUARDED_BY(mutex_) = 0;      // posted or at work
  bool quick_ ABSL_GUARDED_BY(mutex_) = false;    // the next batch
  // Bodies alive: being built, waiting, or not yet freed by whoever took them; and what they hold.
  int bodies_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  Places places_ ABSL_GUARDED_BY(mutex_);  // in the order of the sequence
  // Set when the sequence has ended or anything failed: how to end after what has a place.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  metrics::Series series_ ABSL_GUARDED_BY(mutex_);
  metrics::BatchTally taken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_BUILD_AHEAD_H_
