// Details of an error, for programs that act on it: google.rpc.ErrorInfo, google.rpc.BadRequest and
// google.rpc.RetryInfo as payloads of an absl::Status.
#ifndef PACKTRAIN_PROTO_BASE_ERROR_DETAILS_H_
#define PACKTRAIN_PROTO_BASE_ERROR_DETAILS_H_

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace packtrain::base {

// Of every ErrorInfo.
inline constexpr char kErrorDomain[] = "packtrain";

// Reason of a stream that is refused because as many are open as the server allows: ERRORS.md.
inline constexpr char kStreamLimit[] = "STREAM_LIMIT";
// And because two of its place are open.
inline constexpr char kPlaceLimit[] = "PLACE_LIMIT";

// Reasons of a call for which the server has no memory: at the moment, or ever. ERRORS.md.
inline constexpr char kMemoryLimit[] = "MEMORY_LIMIT";
inline constexpr char kAboveMemory[] = "ABOVE_MEMORY";
// Facts of the two: the option that gives the server more, and the part that holds requests being received.
inline constexpr char kMemoryFlag[] = "--memory";
inline constexpr char kTransportPart[] = "transport";

inline constexpr char kErrorInfoUrl[] = "type.googleapis.com/google.rpc.ErrorInfo";
inline constexpr char kBadRequestUrl[] = "type.googleapis.com/google.rpc.BadRequest";
inline constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";

// The failure with an ErrorInfo: `reason` is a constant in UPPER_SNAKE_CASE, `metadata` are facts by keys in
// snake_case. OK stays as it is.
absl::Status WithReason(absl::Status status, std::string_view reason,
                        std::initializer_list<std::pair<std::string_view, std::string>> metadata = {});

// The reason of the ErrorInfo; empty where there is none.
std::string ReasonOf(const absl::Status& status);

// The value of `key` in the ErrorInfo's metadata; empty where there is none.
std::string MetadataOf(const absl::Status& status, std::string_view key);

// The failure with a BadRequest whose one violation is of `field`, a path in the request such as
// "spec.policy"; what is wrong is the failure's message. OK stays as it is.
absl::Status WithField(absl::Status status, std::string_view field);

// The failure with a RetryInfo: the same call may succeed after `delay`. OK stays as it is.
absl::Status WithRetryInfo(absl::Status status, std::chrono::milliseconds delay);

// The same, with words about the delay at the end of its message.
absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay);

// The delay of the RetryInfo, where there is one.
std::optional<std::chrono::milliseconds> RetryDelayOf(const absl::Status& status);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_ERROR_DETAILS_H_
