#include "server/serving/idle_watch.h"

#include <utility>

namespace packtrain::serving {

IdleWatch::IdleWatch(std::chrono::milliseconds limit)
    : limit_(limit), watcher_([this] { WatchUntilStopped(); }) {}

IdleWatch::~IdleWatch() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  watcher_.join();
}

IdleWatch::Call::Call(IdleWatch& watch, std::function<void()> cut_off)
    : watch_(watch), cut_off_(std::move(cut_off)) {
  base::MutexLock lock(watch_.mutex_);
  watch_.calls_.insert(this);
}

IdleWatch::Call::~Call() {
  base::MutexLock lock(watch_.mutex_);
  watch_.calls_.erase(this);
}

void IdleWatch::CutOff(Clock::time_point now) {
  const Clock::rep latest = (now - limit_).time_since_epoch().count();
  base::MutexLock lock(mutex_);
  for (Call* call : calls_) {
    Clock::rep since = call->waits_since_;
    // The call itself may begin another wait meanwhile.
    if (since > latest || !call->waits_since_.compare_exchange_strong(since, Call::kNever)) continue;
    call->cut_off_();
  }
}

void IdleWatch::WatchUntilStopped() {
  while (true) {
    CutOff(Clock::now());
    const Clock::time_point next = Clock::now() + limit_;
    base::MutexLock lock(mutex_);
    while (!stopping_ && changed_.WaitUntil(mutex_, next)) continue;
    if (stopping_) return;
  }
}

}  // namespace packtrain::serving
