#include "proto/base/mutex.h"

#include <gtest/gtest.h>

#include <thread>

namespace packtrain::base {
namespace {

class Baton {
 public:
  void Pass() {
    MutexLock lock(mutex_);
    passed_ = true;
    changed_.NotifyAll();
  }
  void Await() {
    MutexLock lock(mutex_);
    while (!passed_) changed_.Wait(mutex_);
  }
  bool AwaitUntil(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    while (!passed_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return passed_;
    }
    return true;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool passed_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST(CondVar, WakesAWaitingThread) {
  Baton there;
  Baton back;
  std::thread other([&] {
    there.Await();
    back.Pass();
  });
  there.Pass();
  back.Await();
  other.join();
}

TEST(CondVar, EndsItsWaitAtTheDeadline) {
  Baton never;
  EXPECT_FALSE(never.AwaitUntil(std::chrono::steady_clock::now()));
}

}  // namespace
}  // namespace packtrain::base
