#include "proto/wire/status_convert.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace packtrain::wire {
namespace {

// A message travels as metadata, of which peers take 8 KiB, and up to three times as long as it is:
// percent-encoded.
constexpr std::size_t kMaxMessageBytes = 1024;
constexpr std::string_view kCut = "...";

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

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

}  // namespace

static_assert(static_cast<int>(absl::StatusCode::kCancelled) == grpc::StatusCode::CANCELLED);
static_assert(static_cast<int>(absl::StatusCode::kDataLoss) == grpc::StatusCode::DATA_LOSS);
static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) == grpc::StatusCode::UNAUTHENTICATED);

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string_view message(status.message().data(), status.message().size());
  // code() maps what this Abseil does not know to kUnknown.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), Cut(message));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const int code = status.error_code();
  const bool known = code > 0 && code <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  return absl::Status(known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
                      ReasonIn(status));
}

}  // namespace packtrain::wire
