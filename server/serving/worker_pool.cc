#include "server/serving/worker_pool.h"

#include <algorithm>
#include <utility>

namespace packtrain::serving {

WorkerPool::WorkerPool(int threads) {
  const int count = std::max(threads, 1);
  threads_.reserve(count);
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() {
  {
    wire::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Post(std::function<void()> task) {
  {
    wire::MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
}

void WorkerPool::Work() {
  while (std::function<void()> task = Take()) task();
}

std::function<void()> WorkerPool::Take() {
  wire::MutexLock lock(mutex_);
  while (tasks_.empty() && !stopping_) changed_.Wait(mutex_);
  if (tasks_.empty()) return {};
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

}  // namespace packtrain::serving
