// The stores of a server's folder.
#ifndef PACKTRAIN_SERVER_NODE_OPEN_STORES_H_
#define PACKTRAIN_SERVER_NODE_OPEN_STORES_H_

#include "absl/status/statusor.h"
#include "server/node/server.h"
#include "server/node/server_options.h"

namespace packtrain::node {

// Opens those in `options.data`, which is made where it is not there. FAILED_PRECONDITION: it cannot be, it
// holds files of others, or another process has the stores open.
absl::StatusOr<Stores> OpenStores(const ServerOptions& options);

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_OPEN_STORES_H_
