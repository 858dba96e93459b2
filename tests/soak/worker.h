// The threads of a soak: each gets on, or the soak has failed.
#ifndef PACKTRAIN_TESTS_SOAK_WORKER_H_
#define PACKTRAIN_TESTS_SOAK_WORKER_H_

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/mutex.h"

namespace packtrain::soak {

// Ends the program: what goes on has no more to say.
[[noreturn]] inline void Fail(const std::string& who, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", who.c_str(), status.ToString().c_str());
  std::_Exit(EXIT_FAILURE);
}

// One activity and when it last got on. Its own thread notes, another one looks.
class Worker {
 public:
  // Whoever gets nothing for this long waits for a call that never ends.
  static constexpr std::chrono::seconds kLost{150};

  explicit Worker(std::string name) : name_(std::move(name)) { GotOn(); }
  const std::string& name() const { return name_; }

  void GotOn() { last_ = std::chrono::steady_clock::now().time_since_epoch().count(); }
  bool IsLost() const {
    return !done_ &&
           std::chrono::steady_clock::now().time_since_epoch() - std::chrono::steady_clock::duration(last_) >
               kLost;
  }
  void Done() { done_ = true; }
  bool done() const { return done_; }

 private:
  const std::string name_;
  std::atomic<std::chrono::steady_clock::rep> last_;
  std::atomic<bool> done_ = false;
};

// The end of the soak, which the threads wait for. Thread-safe.
class End {
 public:
  void Come() {
    base::MutexLock lock(mutex_);
    came_ = true;
    changed_.NotifyAll();
  }
  bool came() const {
    base::MutexLock lock(mutex_);
    return came_;
  }
  // Returns after `delay`, or when the end comes.
  void WaitFor(std::chrono::milliseconds delay) {
    const auto deadline = std::chrono::steady_clock::now() + delay;
    base::MutexLock lock(mutex_);
    while (!came_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return;
    }
  }

 private:
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool came_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace packtrain::soak

#endif  // PACKTRAIN_TESTS_SOAK_WORKER_H_
