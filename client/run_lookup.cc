#include "client/run_lookup.h"

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"

namespace packtrain::client {

// The server takes beginnings of names, too.
absl::StatusOr<std::string> StateOfRun(const Connection& connection, const std::string& run) {
  v1::GetRunRequest request;
  request.set_run(run);
  const auto stub = v1::RunService::NewStub(ChannelOf(connection));
  ABSL_ASSIGN_OR_RETURN(const v1::GetRunResponse found, CallMethod(connection.options(), kLookUp, *stub,
                                                                   &v1::RunService::Stub::GetRun, request));
  if (found.run().run() == run) return wire::StateName(found.run().state());
  return absl::NotFoundError(absl::StrCat("no run ", run));
}

}  // namespace packtrain::client
