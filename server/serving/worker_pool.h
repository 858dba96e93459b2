// The threads that build batches, so that gRPC's own never block.
#ifndef PACKTRAIN_SERVER_SERVING_WORKER_POOL_H_
#define PACKTRAIN_SERVER_SERVING_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "proto/wire/mutex.h"

namespace packtrain::serving {

// Runs tasks in the order they were posted. Any number of threads may post. Destruction runs what was
// posted before it, then joins.
class WorkerPool {
 public:
  // At least one thread.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Never blocks on a task.
  void Post(std::function<void()> task);

  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Work();
  // The next task, or an empty one when there will be none.
  std::function<void()> Take();

  std::vector<std::thread> threads_;

  wire::CondVar changed_;
  wire::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_WORKER_POOL_H_
