// One call of a service, connection included.
#ifndef PACKTRAIN_CLIENT_CLI_SERVICE_CALL_H_
#define PACKTRAIN_CLIENT_CLI_SERVICE_CALL_H_

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

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_SERVICE_CALL_H_
