// The gRPC channel of a connection, for the library's own sources.
#ifndef PACKTRAIN_CLIENT_CHANNEL_H_
#define PACKTRAIN_CLIENT_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/connection.h"

namespace packtrain::client {

// The protocol this library speaks, as GetServerInfo names it.
inline constexpr std::string_view kApi = "v1";

// The channel of a connection that Connection::Open returned.
const std::shared_ptr<grpc::Channel>& ChannelOf(const Connection& connection);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_CHANNEL_H_
