#include "proto/base/request_status.h"

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/error_details.h"

namespace packtrain::base {
namespace {

constexpr char kStopped[] = "the server stopped receiving the request";
constexpr char kPart[] = "transport";
constexpr char kFlag[] = "--memory";
constexpr std::chrono::seconds kDelay{1};

}  // namespace

absl::Status StoppedReceiving(std::uint64_t held_bytes, std::uint64_t limit_bytes) {
  const std::string held = absl::StrCat(held_bytes), limit = absl::StrCat(limit_bytes);
  const std::string message =
      absl::StrCat(kStopped, ", since the requests of all connections hold ", held, " bytes of memory, of ",
                   limit, " that they may (packtraind --memory)");
  return WithRetryDelay(WithReason(absl::ResourceExhaustedError(message), kMemoryLimit,
                                   {{"part", kPart}, {"bytes", held}, {"limit", limit}, {"flag", kFlag}}),
                        kDelay);
}

bool IsStoppedReceiving(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && absl::StartsWith(status.message(), kStopped);
}

absl::Status WithStopDetails(const absl::Status& received) {
  // Its words about the delay have come with it.
  absl::Status status = WithRetryDelay(
      WithReason(absl::ResourceExhaustedError(""), kMemoryLimit, {{"part", kPart}, {"flag", kFlag}}), kDelay);
  absl::Status outcome(received.code(), received.message());
  status.ForEachPayload([&outcome](absl::string_view type_url, const absl::Cord& payload) {
    outcome.SetPayload(type_url, payload);
  });
  return outcome;
}

}  // namespace packtrain::base
