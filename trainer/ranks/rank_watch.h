// Watches the other ranks beside the training, so that work which waits for one that is gone comes to an end.
#ifndef PACKTRAIN_TRAINER_RANKS_RANK_WATCH_H_
#define PACKTRAIN_TRAINER_RANKS_RANK_WATCH_H_

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "proto/base/mutex.h"
#include "trainer/ranks/heartbeats.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

struct WatchOptions {
  // Between two heartbeats of this rank.
  std::chrono::milliseconds period{500};
  // A rank without a heartbeat for longer than this is gone.
  std::chrono::milliseconds timeout{20'000};
  // How long the reasons of the others are waited for once one has left, and on rank 0 their ends.
  std::chrono::milliseconds peer_timeout{5'000};
  // How long what waits for a lost rank may take to come back before the process is ended.
  std::chrono::milliseconds grace{20'000};
};

// What a watch does once a rank is lost. Each is called at most once, on a thread of the watch's own.
struct WatchActions {
  // Ends the work of the device that waits for other ranks. May block.
  std::function<void()> abort;
  // Ends the process, in which something still waits when the grace is over: the device, the store or `abort`.
  std::function<void(const absl::Status&)> end_process;
};

// Any thread may use it.
class RankWatch {
 public:
  // Nobody else uses `store`, a connection of its own to that of rank 0.
  RankWatch(c10::intrusive_ptr<c10d::Store> store, const World& world, const WatchOptions& options,
            WatchActions actions);
  // Where no rank is lost, this one has ended in order. Waits for the actions to return.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  // OK: all ranks are there. ABORTED names one that is gone, or says why it has left; set before `abort` is
  // called. Stays what it first was.
  absl::Status status() const;

  // This rank goes, for `reason`; acts as where another is lost.
  void Abandon(const absl::Status& reason);

 private:
  using Clock = std::chrono::steady_clock;

  void Beat();
  bool AwaitNextBeat();
  void Guard();
  void AwaitLoss();
  bool AwaitEnd();
  void Abort();

  const WatchOptions options_;
  const WatchActions actions_;
  Heartbeats heartbeats_;  // of the thread that beats
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  absl::Status lost_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point loss_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point beat_ ABSL_GUARDED_BY(mutex_);  // when the last one began
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;     // no beat begins any more
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;      // the last beat has returned
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread beats_;
  std::thread guard_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_RANK_WATCH_H_
