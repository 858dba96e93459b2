#include "server/batches/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <utility>

namespace packtrain::batches {
namespace {

// Tasks that several threads share out. A thread that comes when none is left touches nothing but the counter:
// `run` may be gone by then.
class SharedLoop {
 public:
  SharedLoop(std::size_t tasks, const std::function<void(std::size_t task)>& run)
      : tasks_(tasks), run_(run), running_(static_cast<std::ptrdiff_t>(tasks)) {}

  void Help() {
    for (std::size_t task = next_++; task < tasks_; task = next_++) {
      run_(task);
      running_.count_down();
    }
  }
  void AwaitEnd() { running_.wait(); }

 private:
  const std::size_t tasks_;
  const std::function<void(std::size_t task)>& run_;
  std::atomic<std::size_t> next_ = 0;
  std::latch running_;  // tasks that have not ended
};

}  // namespace

WorkerPool::WorkerPool(int threads) {
  const int count = std::max(threads, 1);
  idle_ = count;
  threads_.reserve(count);
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Post(std::function<void()> task) {
  {
    base::MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
}

void WorkerPool::RunAll(std::size_t tasks, const std::function<void(std::size_t task)>& run) {
  const auto loop = std::make_shared<SharedLoop>(tasks, run);
  const std::size_t helpers = std::min(tasks, threads_.size() + 1);
  for (std::size_t helper = 1; helper < helpers; ++helper) Post([loop] { loop->Help(); });
  loop->Help();
  loop->AwaitEnd();
}

bool WorkerPool::HasWaiting() const {
  base::MutexLock lock(mutex_);
  return !tasks_.empty();
}

bool WorkerPool::HasIdle() const {
  base::MutexLock lock(mutex_);
  return idle_ > tasks_.size();
}

void WorkerPool::Work() {
  while (std::function<void()> task = Take()) {
    task();
    task = nullptr;
    base::MutexLock lock(mutex_);
    ++idle_;
  }
}

std::function<void()> WorkerPool::Take() {
  base::MutexLock lock(mutex_);
  while (tasks_.empty() && !stopping_) changed_.Wait(mutex_);
  if (tasks_.empty()) return {};
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  --idle_;
  return task;
}

}  // namespace packtrain::batches
