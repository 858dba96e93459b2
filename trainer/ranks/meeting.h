// The meeting of the ranks: how long it may last, what it waits for, and how it ends where a call that it makes
// does not return.
#ifndef PACKTRAIN_TRAINER_RANKS_MEETING_H_
#define PACKTRAIN_TRAINER_RANKS_MEETING_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {

using MeetDeadline = std::chrono::steady_clock::time_point;

// At least 1 ms: Torch takes a timeout of zero for none.
std::chrono::milliseconds TimeUntil(MeetDeadline deadline);

// Waits for `interval`. CANCELLED: asked to stop before it was over.
absl::Status Pause(std::chrono::milliseconds interval, const std::stop_token& stop);

// One rank's part in a meeting. Any thread may use it.
class Meeting {
 public:
  Meeting(MeetDeadline deadline, std::stop_token stop) : deadline_(deadline), stop_(std::move(stop)) {}

  MeetDeadline deadline() const { return deadline_; }
  const std::stop_token& stop() const { return stop_; }

  // What is waited for from now on, in words that follow "waits for". Kept by pointer.
  void Await(const char* what) { awaited_ = what; }
  const char* awaited() const { return awaited_; }

 private:
  const MeetDeadline deadline_;
  const std::stop_token stop_;
  std::atomic<const char*> awaited_ = "its turn";
};

using MeetResult = absl::StatusOr<std::unique_ptr<GradientSync>>;

// Runs `meet` on a thread of its own, as Torch and the resolver of names wait in calls that heed neither the
// deadline nor a request to stop. Returns its result. What it throws is ABORTED, after the deadline
// DEADLINE_EXCEEDED. Where it has not returned a second after the deadline or the request, the thread is
// abandoned, and the result is DEADLINE_EXCEEDED or CANCELLED with what it waits for: so `meet` borrows nothing
// of the caller.
MeetResult MeetInTime(MeetDeadline deadline, const std::stop_token& stop,
                      std::function<MeetResult(Meeting&)> meet);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_MEETING_H_
