// One call of a service, connection included.
#ifndef PACKTRAIN_CLIENT_CLI_SERVICE_CALL_H_
#define PACKTRAIN_CLIENT_CLI_SERVICE_CALL_H_

#include <chrono>
#include <memory>
#include <utility>

#include "client/cli/command.h"
#include "client/internal/service_client.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {

// Connects to the server of `--server` and returns what `call(ServiceClient&)` does, which is a StatusOr.
template <typename Call>
auto CallService(const GlobalOptions& global, Call call)
    -> decltype(call(std::declval<client::ServiceClient&>())) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<client::Connection> connection, Connect(global));
  client::ServiceClient services(std::move(connection));
  return call(services);
}

// Connects to the server of `--server` and asks what takes such a request; see ServiceClient::Read.
template <typename Response, typename Request>
absl::StatusOr<Response> Ask(const GlobalOptions& global, const Request& request,
                             std::chrono::milliseconds deadline = client::kWork) {
  return CallService(
      global, [&](client::ServiceClient& services) { return services.Read<Response>(request, deadline); });
}

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_SERVICE_CALL_H_
