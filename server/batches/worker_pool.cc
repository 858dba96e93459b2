#include "server/batches/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <system_error>
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

WorkerPool::WorkerPool(int threads) : count_(std::max(threads, 1)) {
  base::MutexLock lock(mutex_);
  for (int i = 0; i < count_; ++i) AddThread(tasks_);
}

WorkerPool::~WorkerPool() {
  {
    base::MutexLock lock(mutex_);
    while (unfinished_ > 0) all_done_.Wait(mutex_);
    stopping_ = true;
  }
  for (Lane* lane : {&tasks_, &blocking_}) {
    lane->changed.NotifyAll();
    for (std::thread& thread : lane->threads) thread.join();
  }
}

void WorkerPool::Post(std::function<void()> task) {
  base::MutexLock lock(mutex_);
  ++unfinished_;
  tasks_.tasks.push_back(std::move(task));
  tasks_.changed.NotifyOne();
}

void WorkerPool::PostBlocking(std::function<void()> task) {
  base::MutexLock lock(mutex_);
  ++unfinished_;
  Lane& lane = HasThreadForBlocking() ? blocking_ : tasks_;
  lane.tasks.push_back(std::move(task));
  lane.changed.NotifyOne();
}

bool WorkerPool::HasThreadForBlocking() {
  if (blocking_.idle > blocking_.tasks.size()) return true;
  try {
    AddThread(blocking_);
  } catch (const std::system_error&) {  // the system has none
    return !blocking_.threads.empty();
  }
  return true;
}

void WorkerPool::AddThread(Lane& lane) {
  lane.threads.emplace_back([this, &lane] { Work(lane); });
  ++lane.idle;
}

void WorkerPool::RunAll(std::size_t tasks, const std::function<void(std::size_t task)>& run) {
  const auto loop = std::make_shared<SharedLoop>(tasks, run);
  const std::size_t helpers = std::min(tasks, static_cast<std::size_t>(count_) + 1);
  for (std::size_t helper = 1; helper < helpers; ++helper) Post([loop] { loop->Help(); });
  loop->Help();
  loop->AwaitEnd();
}

bool WorkerPool::HasWaiting() const {
  base::MutexLock lock(mutex_);
  return !tasks_.tasks.empty();
}

bool WorkerPool::HasIdle() const {
  base::MutexLock lock(mutex_);
  return tasks_.idle > tasks_.tasks.size();
}

void WorkerPool::Work(Lane& lane) {
  while (std::function<void()> task = Take(lane)) {
    task();
    task = nullptr;
    EndTask(lane);
  }
}

std::function<void()> WorkerPool::Take(Lane& lane) {
  base::MutexLock lock(mutex_);
  while (lane.tasks.empty() && !stopping_) lane.changed.Wait(mutex_);
  if (lane.tasks.empty()) return {};
  std::function<void()> task = std::move(lane.tasks.front());
  lane.tasks.pop_front();
  --lane.idle;
  return task;
}

void WorkerPool::EndTask(Lane& lane) {
  base::MutexLock lock(mutex_);
  ++lane.idle;
  if (--unfinished_ == 0) all_done_.NotifyAll();
}

}  // namespace packtrain::batches
