#include "trainer/ranks/meeting.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What a meeting that can see its end by itself has to say so, and to tell the other ranks.
constexpr milliseconds kGrace{1'000};

// A meeting on its thread, and the result that the caller waits for. Any thread may use it.
class Attempt {
 public:
  Attempt(MeetDeadline deadline, const std::stop_token& stop) : meeting_(deadline, stop) {}

  void Run(const std::function<MeetResult(Meeting&)>& meet) {
    MeetResult result = ResultOf(meet);
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    changed_.notify_all();
  }

  MeetResult Await() {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return result_.has_value(); };
    if (!changed_.wait_until(lock, meeting_.stop(), meeting_.deadline(), done)) {
      changed_.wait_for(lock, kGrace, done);
    }
    return result_.has_value() ? *std::move(result_) : Abandoned();
  }

 private:
  MeetResult ResultOf(const std::function<MeetResult(Meeting&)>& meet) {
    try {
      return meet(meeting_);
    } catch (const std::exception& error) {
      const std::string message =
          absl::StrCat("the wait for ", meeting_.awaited(), " has failed: ", FirstLine(error));
      const bool late = Clock::now() >= meeting_.deadline();
      return late ? absl::DeadlineExceededError(message) : absl::AbortedError(message);
    }
  }

  absl::Status Abandoned() const {
    const std::string waits = absl::StrCat("it still waits for ", meeting_.awaited());
    if (!meeting_.stop().stop_requested()) return absl::DeadlineExceededError(waits);
    return absl::CancelledError(absl::StrCat("asked to stop; ", waits));
  }

  Meeting meeting_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<MeetResult> result_;
};

}  // namespace

milliseconds TimeUntil(MeetDeadline deadline) {
  return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(deadline - Clock::now()));
}

absl::Status Pause(milliseconds interval, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, interval, [] { return false; });
  return stop.stop_requested() ? absl::CancelledError("asked to stop") : absl::OkStatus();
}

MeetResult MeetInTime(MeetDeadline deadline, const std::stop_token& stop,
                      std::function<MeetResult(Meeting&)> meet) {
  const auto attempt = std::make_shared<Attempt>(deadline, stop);
  std::thread([attempt, meet = std::move(meet)] { attempt->Run(meet); }).detach();
  return attempt->Await();
}

}  // namespace packtrain::trainer
