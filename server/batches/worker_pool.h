// Threads for work that gRPC's own threads must not do: building batches, planning, reading imports.
#ifndef PACKTRAIN_SERVER_BATCHES_WORKER_POOL_H_
#define PACKTRAIN_SERVER_BATCHES_WORKER_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "proto/base/mutex.h"

namespace packtrain::batches {

// Runs tasks in the order they were posted. Any number of threads may post. Destruction runs what was
// posted before it, and what that posts, then joins.
class WorkerPool {
 public:
  // Has at least one thread.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Never blocks on a task.
  void Post(std::function<void()> task);
  // The same for a task that may wait long for others, such as for memory. It takes none of the pool's threads,
  // but one of those that the pool adds for such tasks: as many as there are of them at one time.
  void PostBlocking(std::function<void()> task);

  // Calls `run` with each of 0 .. tasks-1 once, on the calling thread and on threads of the pool as they come
  // free, and returns when all calls have returned. Waits for no task that has not begun, so tasks of the pool
  // may call it, too.
  void RunAll(std::size_t tasks, const std::function<void(std::size_t task)>& run);

  // Whether a task waits for a thread.
  bool HasWaiting() const;
  // Whether there is an idle thread for a task that is posted now.
  bool HasIdle() const;

  // For tasks that do not block.
  int threads() const { return count_; }

 private:
  // Tasks of a kind and the threads for them. Guarded by mutex_, but for the condition.
  struct Lane {
    base::CondVar changed;
    std::deque<std::function<void()>> tasks;
    std::size_t idle = 0;  // threads that wait for a task, or have not begun to
    std::vector<std::thread> threads;
  };

  void AddThread(Lane& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds one where all there are have tasks.
  bool HasThreadForBlocking() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work(Lane& lane);
  // The next task, or an empty one when there will be none.
  std::function<void()> Take(Lane& lane);
  void EndTask(Lane& lane);

  const int count_;

  base::CondVar all_done_;
  mutable base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::size_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;  // tasks, of both kinds
  Lane tasks_;
  Lane blocking_;
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_WORKER_POOL_H_
