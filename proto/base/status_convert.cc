#include "proto/base/status_convert.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/cord.h"
#include "google/rpc/status.pb.h"
#include "proto/base/error_details.h"

namespace packtrain::base {
namespace {

// A message travels as metadata, of which peers take 8 KiB, and up to three times as long as it is:
// percent-encoded.
constexpr std::size_t kMaxMessageBytes = 1024;
constexpr std::string_view kCut = "...";

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// They travel in base64: with the message, which they repeat, at most 4 KiB.
constexpr int kMaxDetailsBytes = 2048;
constexpr int kMaxDetails = 16;

// Cuts between UTF-8 characters; text of other bytes may come out shorter than it could be.
std::string Cut(std::string_view message) {
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  std::size_t end = kMaxMessageBytes - kCut.size();
  while (end > 0 && ContinuesCharacter(message[end])) --end;
  return std::string(message.substr(0, end)).append(kCut);
}

// Never empty. gRPC itself says nothing where it cannot parse a message.
std::string ReasonIn(const grpc::Status& status) {
  if (!status.error_message().empty()) return status.error_message();
  return "the other end gave no reason; it gives none for text that is not UTF-8";
}

void AddDetail(std::string type_url, std::string value, google::rpc::Status& status) {
  google::protobuf::Any& detail = *status.add_details();
  detail.set_type_url(std::move(type_url));
  detail.set_value(std::move(value));
}

std::string Details(const absl::Status& status, const std::string& message) {
  google::rpc::Status sent;
  int left = kMaxDetailsBytes;
  status.ForEachPayload([&](absl::string_view type_url, const absl::Cord& payload) {
    const int bytes =
        static_cast<int>(std::min<std::size_t>(type_url.size() + payload.size(), kMaxDetailsBytes + 1));
    if (bytes > left) return;
    left -= bytes;
    AddDetail(std::string(type_url), std::string(payload), sent);
  });
  sent.set_code(static_cast<int>(status.code()));
  sent.set_message(message);
  return sent.SerializeAsString();
}

absl::Status WithSomeReason(absl::Status status) {
  if (status.GetPayload(kErrorInfoUrl).has_value()) return status;
  const std::string reason = absl::StatusCodeToString(status.code());
  return WithReason(std::move(status), reason);
}

absl::Status WithDetails(absl::Status status, const std::string& details) {
  google::rpc::Status sent;
  if (details.empty() || !sent.ParseFromString(details)) return status;
  for (int k = 0; k < std::min(sent.details_size(), kMaxDetails); ++k) {
    status.SetPayload(sent.details(k).type_url(), absl::Cord(sent.details(k).value()));
  }
  return status;
}

}  // namespace

static_assert(static_cast<int>(absl::StatusCode::kCancelled) == grpc::StatusCode::CANCELLED);
static_assert(static_cast<int>(absl::StatusCode::kDataLoss) == grpc::StatusCode::DATA_LOSS);
static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) == grpc::StatusCode::UNAUTHENTICATED);

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string_view message(status.message().data(), status.message().size());
  // code() maps what this Abseil does not know to kUnknown.
  const std::string sent = Cut(message);
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), sent,
                      Details(WithSomeReason(status), sent));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const int code = status.error_code();
  const bool known = code > 0 && code <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  return WithDetails(
      absl::Status(known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown, ReasonIn(status)),
      status.error_details());
}

}  // namespace packtrain::base
