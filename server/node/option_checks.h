// What is checked of a server's options before it starts. INVALID_ARGUMENT: the message names the flag.
#ifndef PACKTRAIN_SERVER_NODE_OPTION_CHECKS_H_
#define PACKTRAIN_SERVER_NODE_OPTION_CHECKS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/node/listen_address.h"
#include "server/node/server_options.h"

namespace packtrain::node {

// Numbers in their ranges.
absl::Status CheckOptions(const ServerOptions& options);
// Where the server listens: plain text goes to other machines only where the options say so.
absl::StatusOr<ListenAddress> CheckAddress(const ServerOptions& options);
// What a replica copies from. What goes there is plain text, too.
absl::Status CheckPrimary(const ServerOptions& options);

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_OPTION_CHECKS_H_
