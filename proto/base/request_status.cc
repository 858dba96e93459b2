#include "proto/base/request_status.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"

namespace packtrain::base {
namespace {

constexpr char kStopped[] = "the server stopped receiving the request";
constexpr std::chrono::seconds kDelay{1};

}  // namespace

absl::Status StoppedReceiving(std::uint64_t held_bytes, std::uint64_t limit_bytes) {
  const std::string held = absl::StrCat(held_bytes), limit = absl::StrCat(limit_bytes);
  const std::string message =
      absl::StrCat(kStopped, ", since the requests of all connections hold ", held, " bytes of memory, of ",
                   limit, " that they may (packtraind --memory)");
  return WithRetryDelay(
      WithReason(absl::ResourceExhaustedError(message), kMemoryLimit,
                 {{"part", kTransportPart}, {"bytes", held}, {"limit", limit}, {"flag", kMemoryFlag}}),
      kDelay);
}

bool IsStoppedReceiving(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && absl::StartsWith(status.message(), kStopped);
}

absl::Status WithStopDetails(absl::Status received) {
  // Its words about the delay have come with it.
  return WithRetryInfo(
      WithReason(std::move(received), kMemoryLimit, {{"part", kTransportPart}, {"flag", kMemoryFlag}}), kDelay);
}

}  // namespace packtrain::base
