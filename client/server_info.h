// What a server says of itself and of its host.
#ifndef PACKTRAIN_CLIENT_SERVER_INFO_H_
#define PACKTRAIN_CLIENT_SERVER_INFO_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/connection.h"

namespace packtrain::client {

struct ServerInfo {
  std::string host_id;         // equal on one host; empty: not known, as of an older server
  std::uint32_t builders = 0;  // threads that build batches; 0: not known
};

// UNAVAILABLE: the server stays away for `give_up`.
absl::StatusOr<ServerInfo> GetServerInfo(const Connection& connection);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_SERVER_INFO_H_
