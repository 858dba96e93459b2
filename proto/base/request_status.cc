#include "proto/base/request_status.h"

#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"

namespace packtrain::base {
namespace {

constexpr char kStopped[] = "the server stopped receiving the request";
constexpr std::chrono::seconds kDelay{1};

}  // namespace

absl::Status StoppedReceiving() {
  const std::string message = absl::StrCat(
      kStopped, ", since the requests of all connections are short of memory (packtraind --memory)");
  return WithRetryDelay(WithReason(absl::ResourceExhaustedError(message), kMemoryLimit,
                                   {{"part", "transport"}, {"flag", "--memory"}}),
                        kDelay);
}

bool IsStoppedReceiving(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && absl::StartsWith(status.message(), kStopped);
}

}  // namespace packtrain::base
