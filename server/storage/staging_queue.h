// Records of an import on their way from the thread that checks them to the one that writes them.
#ifndef PACKTRAIN_SERVER_STORAGE_STAGING_QUEUE_H_
#define PACKTRAIN_SERVER_STORAGE_STAGING_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"

namespace packtrain::storage {

// Hands records on in the order in which they come, many at a time. Used by one thread; a second one, which
// there is from the first full chunk to the next Drain, writes, and a third one does what need not be waited
// for in order to write on. Destruction drops what is not written.
class StagingQueue {
 public:
  // Writes records that lie end to end, record k of `sizes[k]` bytes. It is never called twice at a time.
  using Write =
      std::function<absl::Status(std::span<const std::byte> records, std::span<const std::uint32_t> sizes)>;

  // Is called with the same records on the thread that adds them, before they are handed on.
  using Note = std::function<void(std::span<const std::byte> records)>;

  StagingQueue(Note note, Write write) : note_(std::move(note)), write_(std::move(write)) {}
  ~StagingQueue();
  StagingQueue(const StagingQueue&) = delete;
  StagingQueue& operator=(const StagingQueue&) = delete;

  // Copies the record; waits while as much is unwritten as may be. Fails as `write` did on a record before, or
  // a task: from the first failure on nothing more is written, and no task is begun.
  absl::Status Add(std::span<const std::byte> record);

  // What is left of a task once it has begun; null: nothing.
  using Rest = std::function<absl::Status()>;
  // Is called behind the writing of all records so far, before any more are written. The rest is called beside
  // the writing of those, and has returned before another task begins.
  using Task = std::function<absl::StatusOr<Rest>()>;
  void Then(Task task);
  // Waits until all tasks are done. Fails as Add.
  absl::Status AwaitTasks();

  // Whether Drain would write something.
  bool HoldsRecords() const;
  // Writes all records, does all tasks, and ends the other threads. Fails as Add.
  absl::Status Drain();

  static constexpr std::size_t kChunkBytes = 256 << 10;
  // Of memory that is held, at most.
  static constexpr std::uint64_t kMaxBytes = 4 * (kChunkBytes + (32 << 10));

 private:
  struct Chunk {
    std::string records;
    std::vector<std::uint32_t> sizes;
    Task task;  // behind them
  };

  bool HasRoom(std::size_t record_bytes) const;
  // Hands on the chunk that is being filled.
  absl::Status Push();
  // Writes it here and now. Nothing else may be unwritten.
  absl::Status WriteHere();
  // Writes it and begins its task, of which it returns the rest; null without a task.
  absl::StatusOr<Rest> WriteChunk(const Chunk& chunk) const;
  // False where the system has no thread.
  bool StartThread();
  // Once nothing is unwritten.
  void EndThread();
  // Waits until everything that was handed on is written.
  absl::Status AwaitWritten();
  // The first failure, which is `written` where there was none before.
  absl::Status FirstFailure(const absl::Status& written);

  // The second thread.
  void Work();
  // The next chunk; none once there will be none.
  std::optional<Chunk> Take();
  // After a failure: it holds neither records nor a task any more.
  void DropIfFailed(Chunk& chunk);
  // Takes it back; its task is done where no rest of it is left.
  void Return(Chunk chunk, const absl::Status& written, bool has_rest);
  // The third thread, which does the rest of a task; none where the system has no thread, and it is done.
  std::jthread StartRest(const Rest& rest);
  void DoRest(const Rest& rest);

  const Note note_;
  const Write write_;
  Chunk filling_;
  std::thread thread_;  // the second one, where there is one

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<Chunk> full_ ABSL_GUARDED_BY(mutex_);
  std::vector<Chunk> empty_ ABSL_GUARDED_BY(mutex_);
  std::size_t unwritten_ ABSL_GUARDED_BY(mutex_) = 0;  // chunks in full_ and in work
  std::size_t tasks_ ABSL_GUARDED_BY(mutex_) = 0;      // in these, and one that has begun
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // the first one
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_STAGING_QUEUE_H_
