#include "client/internal/retry.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"

namespace packtrain::client {

std::chrono::milliseconds Backoff::Next() {
  std::uniform_int_distribution<std::chrono::milliseconds::rep> draw(ceiling_.count() / 2, ceiling_.count());
  ceiling_ = std::min(ceiling_ * 2, kMaxDelay);
  return std::chrono::milliseconds(draw(random_));
}

absl::Status GaveUp(const ConnectionOptions& options, const absl::Status& cause) {
  const std::string_view message(cause.message().data(), cause.message().size());
  return absl::UnavailableError(absl::StrCat("no answer from server ", options.server, " for ",
                                             static_cast<double>(options.give_up.count()) / 1000,
                                             " s (--server, --give-up): ", std::string(message)));
}

void Retry::Succeeded() {
  if (view_ != nullptr) view_->Answered();
  failing_since_.reset();
  backoff_.Reset();
}

absl::Status Retry::WaitAfter(const absl::Status& cause) {
  if (stop_.stopped()) return absl::CancelledError("cancelled by the caller");
  const bool refused = IsRefusedForMemory(cause);
  if (!IsTransient(cause) && !refused) return cause;
  if (view_ != nullptr && !refused) view_->Failed(cause);
  const auto now = std::chrono::steady_clock::now();
  if (!failing_since_) failing_since_ = now;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(*failing_since_ + options_.give_up - now);
  const std::chrono::milliseconds asked = base::RetryDelayOf(cause).value_or(std::chrono::milliseconds(0));
  if (left.count() <= 0 || asked > left)
    return refused || IsFailingServer(cause) ? cause : GaveUp(options_, cause);
  if (stop_.WaitFor(std::min(std::max(backoff_.Next(), asked), left)))
    return absl::CancelledError("cancelled by the caller");
  return absl::OkStatus();
}

}  // namespace packtrain::client
