#include "client/internal/unary_call.h"

#include <grpcpp/client_context.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/internal/retry.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {
namespace {

// gRPC's words, behind "Received" or "Sent", before both sizes.
constexpr char kTooLarge[] = "message larger than max";

}  // namespace

absl::Status OutcomeOf(const grpc::Status& status) {
  absl::Status outcome = base::FromGrpcStatus(status);
  if (!absl::IsResourceExhausted(outcome) || !absl::StrContains(outcome.message(), kTooLarge)) return outcome;
  return absl::ResourceExhaustedError(
      absl::StrCat(outcome.message(),
                   " bytes; a server takes and sends messages up to packtraind --max-message-bytes, which ",
                   "`packtrain server info` shows"));
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
  StopSignal never_stopped;
  Retry retry(options, never_stopped);
  while (true) {
    absl::Status status = CallOnce(deadline, never_stopped, call);
    if (status.ok()) return status;
    ABSL_RETURN_IF_ERROR(retry.WaitAfter(status));
  }
}

}  // namespace packtrain::client
