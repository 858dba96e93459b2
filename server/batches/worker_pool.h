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
// posted before it, then joins.
class WorkerPool {
 public:
  // Has at least one thread.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Never blocks on a task.
  void Post(std::function<void()> task);

  // Calls `run` with each of 0 .. tasks-1 once, on the calling thread and on threads of the pool as they come
  // free, and returns when all calls have returned. Waits for no task that has not begun, so tasks of the pool
  // may call it, too.
  void RunAll(std::size_t tasks, const std::function<void(std::size_t task)>& run);

  // Whether a task waits for a thread.
  bool HasWaiting() const;
  // Whether there is an idle thread for a task that is posted now.
  bool HasIdle() const;

  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Work();
  // The next task, or an empty one when there will be none.
  std::function<void()> Take();

  std::vector<std::thread> threads_;

  base::CondVar changed_;
  mutable base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  std::size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that wait for a task, or have not begun to
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_WORKER_POOL_H_
