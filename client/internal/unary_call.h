// One unary call, with its deadline, and repeated while its server is away.
#ifndef PACKTRAIN_CLIENT_INTERNAL_UNARY_CALL_H_
#define PACKTRAIN_CLIENT_INTERNAL_UNARY_CALL_H_

#include <chrono>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/connection.h"
#include "client/failure.h"
#include "client/internal/stop_signal.h"
#include "proto/base/status_macros.h"

namespace grpc {
class ClientContext;
class Status;
}  // namespace grpc

namespace packtrain::client {

// Deadlines: for what the server answers from memory, and for what it plans, sorts or syncs first.
inline constexpr std::chrono::milliseconds kLookUp{30'000};
inline constexpr std::chrono::milliseconds kWork{300'000};

// The metadata of a call that gRPC reset (IsReset), beside those of MEMORY_LIMIT.
inline constexpr char kResetBy[] = "reset_by";
inline constexpr char kGrpc[] = "gRPC";

// How a call ended. gRPC's refusal of a message that is too large gains the names of the limits, its reset of a
// call for want of memory and base::StoppedReceiving the reason MEMORY_LIMIT and a delay, and its failure on a
// connection that the server closes the causes and a delay.
absl::Status OutcomeOf(const grpc::Status& status);

// Makes one call with a deadline; `stop` cancels it.
absl::Status CallOnce(std::chrono::milliseconds deadline, StopSignal& stop,
                      absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call);

// Repeats the call after transient failures and refusals for want of memory, until `give_up` has passed. For
// calls that may be repeated.
absl::Status CallUntilAnswered(const ConnectionOptions& options, std::chrono::milliseconds deadline,
                               absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call);

// Repeats the call only after a refusal for want of memory, which has changed nothing; not after a reset. For
// calls that change something.
absl::Status CallUntilAdmitted(const ConnectionOptions& options, std::chrono::milliseconds deadline,
                               absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call);

// CallUntilAnswered for a method of a generated stub.
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> CallMethod(
    const ConnectionOptions& options, std::chrono::milliseconds deadline, Stub& stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*), const Request& request) {
  Response response;
  const absl::Status status = CallUntilAnswered(options, deadline, [&](grpc::ClientContext& context) {
    return (stub.*method)(&context, request, &response);
  });
  ABSL_RETURN_IF_ERROR(status);
  return response;
}

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_UNARY_CALL_H_
