#include "trainer/ranks/rank_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {

RankWatch::RankWatch(c10::intrusive_ptr<c10d::Store> store, const World& world, const WatchOptions& options,
                     WatchActions actions)
    : options_(options),
      actions_(std::move(actions)),
      heartbeats_(std::move(store), world, {.timeout = options.timeout, .peer_timeout = options.peer_timeout},
                  Clock::now()),
      beat_(Clock::now()),
      beats_([this] { Beat(); }),
      guard_([this] { Guard(); }) {}

RankWatch::~RankWatch() {
  {
    base::MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  beats_.join();
  {
    base::MutexLock lock(mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }
  guard_.join();
}

absl::Status RankWatch::status() const {
  base::MutexLock lock(mutex_);
  return lost_;
}

void RankWatch::Abandon(const absl::Status& reason) {
  base::MutexLock lock(mutex_);
  if (!lost_.ok()) return;
  lost_ = reason;
  loss_ = Clock::now();
  changed_.NotifyAll();
}

void RankWatch::Beat() {
  while (AwaitNextBeat()) {
    if (const absl::Status status = heartbeats_.Beat(Clock::now()); !status.ok()) Abandon(status);
  }
  if (status().ok()) heartbeats_.End();
}

// False once there is none.
bool RankWatch::AwaitNextBeat() {
  base::MutexLock lock(mutex_);
  const Clock::time_point due = beat_ + options_.period;
  while (!ending_ && lost_.ok() && changed_.WaitUntil(mutex_, due)) {
  }
  beat_ = Clock::now();
  return !ending_ && lost_.ok();
}

void RankWatch::Guard() {
  AwaitLoss();
  const absl::Status lost = status();
  if (lost.ok()) return;
  std::thread abort([this] { Abort(); });
  if (!AwaitEnd()) {
    actions_.end_process(absl::AbortedError(absl::StrCat(
        lost.message(), "; what waited for it has not come back within ", options_.grace.count(), " ms")));
  }
  abort.join();
}

// Until there is one, or the end. A store that does not answer is one: beats take turns with rank 0.
void RankWatch::AwaitLoss() {
  const auto limit = options_.period + options_.timeout + options_.peer_timeout;
  base::MutexLock lock(mutex_);
  while (lost_.ok() && !ended_) {
    if (changed_.WaitUntil(mutex_, beat_ + limit) || Clock::now() < beat_ + limit) continue;
    lost_ = RankIsGone(0);
    loss_ = Clock::now();
    changed_.NotifyAll();
  }
}

// False: the grace is over.
bool RankWatch::AwaitEnd() {
  base::MutexLock lock(mutex_);
  while (!ended_ || !aborted_) {
    if (!changed_.WaitUntil(mutex_, loss_ + options_.grace)) return ended_ && aborted_;
  }
  return true;
}

void RankWatch::Abort() {
  actions_.abort();
  base::MutexLock lock(mutex_);
  aborted_ = true;
  changed_.NotifyAll();
}

}  // namespace packtrain::trainer
