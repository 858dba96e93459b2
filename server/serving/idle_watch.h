// Cuts off calls whose client does not read on.
#ifndef PACKTRAIN_SERVER_SERVING_IDLE_WATCH_H_
#define PACKTRAIN_SERVER_SERVING_IDLE_WATCH_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "proto/base/mutex.h"

namespace packtrain::serving {

// Any number of threads may use it; a thread of its own watches.
class IdleWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Calls are cut off once they have waited for `limit`, and before they have waited for twice that.
  explicit IdleWatch(std::chrono::milliseconds limit);
  ~IdleWatch();
  IdleWatch(const IdleWatch&) = delete;
  IdleWatch& operator=(const IdleWatch&) = delete;

  // One call under watch, for as long as this lives. It must not outlive the watch. Used by one thread at a
  // time.
  class Call {
   public:
    // `cut_off` is called on the watching thread when a wait has lasted too long, and never once the destructor
    // has returned. It must not destroy this object on that thread.
    Call(IdleWatch& watch, std::function<void()> cut_off);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // From now on it is the client's turn.
    void BeginWait() { waits_since_ = Clock::now().time_since_epoch().count(); }
    void EndWait() { waits_since_ = kNever; }

   private:
    friend class IdleWatch;
    static constexpr Clock::rep kNever = Clock::duration::max().count();

    IdleWatch& watch_;
    const std::function<void()> cut_off_;
    std::atomic<Clock::rep> waits_since_{kNever};
  };

  // Cuts off what has waited for the limit at `now`.
  void CutOff(Clock::time_point now);

 private:
  void WatchUntilStopped();

  const std::chrono::milliseconds limit_;

  base::CondVar changed_;
  base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<Call*> calls_ ABSL_GUARDED_BY(mutex_);

  std::thread watcher_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_IDLE_WATCH_H_
