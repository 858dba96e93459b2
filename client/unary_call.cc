#include "client/unary_call.h"

#include <grpcpp/client_context.h>

#include "client/retry.h"
#include "proto/wire/status_convert.h"

namespace packtrain::client {

absl::Status CallOnce(std::chrono::milliseconds deadline, StopSignal& stop,
                      absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  StopSignal::Attachment attachment(stop, context);
  return wire::FromGrpcStatus(call(context));
}

absl::Status CallUntilAnswered(const ConnectionOptions& options, std::chrono::milliseconds deadline,
                               absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call) {
  StopSignal never_stopped;
  Retry retry(options, never_stopped);
  while (true) {
    const absl::Status status = CallOnce(deadline, never_stopped, call);
    if (status.ok()) return status;
    if (absl::Status failed = retry.WaitAfter(status); !failed.ok()) return failed;
  }
}

}  // namespace packtrain::client
