// When to try again, and when to give up.
#ifndef PACKTRAIN_CLIENT_INTERNAL_RETRY_H_
#define PACKTRAIN_CLIENT_INTERNAL_RETRY_H_

#include <chrono>
#include <optional>
#include <random>

#include "absl/status/status.h"
#include "client/connection.h"
#include "client/failure.h"
#include "client/internal/reachability.h"
#include "client/internal/stop_signal.h"

namespace packtrain::client {

// Delays between attempts: from 50 ms, doubling up to 5 s, each drawn from the upper half of its range,
// so that the ranks of a run do not come back at the same moment.
class Backoff {
 public:
  std::chrono::milliseconds Next();
  void Reset() { ceiling_ = kFirst; }

 private:
  static constexpr std::chrono::milliseconds kFirst{50};
  static constexpr std::chrono::milliseconds kMaxDelay{5'000};

  std::minstd_rand random_{std::random_device{}()};
  std::chrono::milliseconds ceiling_ = kFirst;
};

// Carries one activity over the absence of its server. Used by one thread; what it is made of is borrowed and
// outlives it. `view`, where there is one, is told of failures and answers.
class Retry {
 public:
  Retry(const ConnectionOptions& options, StopSignal& stop, Reachability::View* view = nullptr)
      : options_(options), stop_(stop), view_(view) {}

  // The server answered: the next failure begins a new wait.
  void Succeeded();

  // After a failed attempt: OK once it is time for the next one, which is never before the delay that the
  // server asked for. Otherwise `cause` itself where trying again is of no use, and CANCELLED when stopped.
  // When `give_up` has passed since the first failure, or would before the next attempt: `cause` where the
  // server is failing or refused the call for want of memory, else UNAVAILABLE.
  absl::Status WaitAfter(const absl::Status& cause);

 private:
  const ConnectionOptions& options_;
  StopSignal& stop_;
  Reachability::View* const view_;
  Backoff backoff_;
  std::optional<std::chrono::steady_clock::time_point> failing_since_;
};

// UNAVAILABLE: says which server was absent, for how long, by which flag, and the last cause.
absl::Status GaveUp(const ConnectionOptions& options, const absl::Status& cause);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_RETRY_H_
