#include "client/internal/unary_call.h"

#include <grpcpp/client_context.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/internal/retry.h"
#include "proto/base/error_details.h"
#include "proto/base/request_status.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {
namespace {

// gRPC's words, behind "Received" or "Sent", before both sizes.
constexpr char kTooLarge[] = "message larger than max";
// gRPC's words for a call that a server resets (ENHANCE_YOUR_CALM, RFC 9113) where its connections are short of
// memory.
constexpr char kReset[] = "RST_STREAM with error code 11";
// gRPC's words for a call on a connection that its server closes: at its end, and where the connection had no
// call and memory for connections is short.
constexpr char kClosed[] = "GOAWAY received";
// After either of the two.
constexpr std::chrono::milliseconds kDelay{100};

absl::Status TooLarge(const absl::Status& refused) {
  return absl::ResourceExhaustedError(
      absl::StrCat(refused.message(),
                   " bytes; a server takes and sends messages up to packtraind --max-message-bytes, which ",
                   "`packtrain server info` shows"));
}

absl::Status ResetForMemory() {
  return base::WithRetryDelay(
      base::WithReason(
          absl::ResourceExhaustedError(
              "the server has reset the call, since its connections are short of memory; come again, "
              "or start packtraind with a greater --memory"),
          base::kMemoryLimit, {{"part", base::kTransportPart}, {"flag", base::kMemoryFlag}, {kResetBy, kGrpc}}),
      kDelay);
}

absl::Status ConnectionClosed() {
  return base::WithRetryDelay(
      absl::UnavailableError("the server has closed the connection (GOAWAY): it is stopping, or its "
                             "connections are short of memory (packtraind --memory); come again"),
      kDelay);
}

// Repeats the call after failures that `may_repeat` allows and Retry waits for.
absl::Status CallAgain(const ConnectionOptions& options, std::chrono::milliseconds deadline,
                       absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call,
                       absl::FunctionRef<bool(const absl::Status&)> may_repeat) {
  StopSignal never_stopped;
  Retry retry(options, never_stopped);
  while (true) {
    absl::Status status = CallOnce(deadline, never_stopped, call);
    if (status.ok() || !may_repeat(status)) return status;
    ABSL_RETURN_IF_ERROR(retry.WaitAfter(status));
  }
}

}  // namespace

absl::Status OutcomeOf(const grpc::Status& status) {
  absl::Status outcome = base::FromGrpcStatus(status);
  if (!base::ReasonOf(outcome).empty()) return outcome;
  if (absl::IsUnavailable(outcome) && absl::StrContains(outcome.message(), kClosed)) return ConnectionClosed();
  if (!absl::IsResourceExhausted(outcome)) return outcome;
  if (base::IsStoppedReceiving(outcome)) return base::WithStopDetails(std::move(outcome));
  if (absl::StrContains(outcome.message(), kTooLarge)) return TooLarge(outcome);
  return absl::StrContains(outcome.message(), kReset) ? ResetForMemory() : outcome;
}

absl::Status CallOnce(std::chrono::milliseconds deadline, StopSignal& stop,
                      absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  StopSignal::Attachment attachment(stop, context);
  return OutcomeOf(call(context));
}

absl::Status CallUntilAnswered(const ConnectionOptions& options, std::chrono::milliseconds deadline,
                               absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call) {
  return CallAgain(options, deadline, call, [](const absl::Status&) { return true; });
}

absl::Status CallUntilAdmitted(const ConnectionOptions& options, std::chrono::milliseconds deadline,
                               absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call) {
  return CallAgain(options, deadline, call, [](const absl::Status& failure) {
    return IsRefusedForMemory(failure) && !IsReset(failure);
  });
}

}  // namespace packtrain::client
