// The gRPC channel of a connection and its raw streams, for the library's own sources.
#ifndef PACKTRAIN_CLIENT_INTERNAL_CHANNEL_H_
#define PACKTRAIN_CLIENT_INTERNAL_CHANNEL_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/sync_stream.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/connection.h"
#include "client/internal/reachability.h"

namespace packtrain::client {

// The protocol this library speaks, as GetServerInfo names it.
inline constexpr std::string_view kApi = "v1";

// A channel to options.server, as connections have it but for what `arguments` says already.
std::shared_ptr<grpc::Channel> NewChannel(const ConnectionOptions& options, grpc::ChannelArguments arguments);

// The channel of a connection that Connection::Open returned.
const std::shared_ptr<grpc::Channel>& ChannelOf(const Connection& connection);

// What a connection that Connection::Open returned knows of its server.
Reachability& ReachabilityOf(Connection& connection);

using RawReader = grpc::ClientReader<grpc::ByteBuffer>;

// Opens a stream of `method`, such as "/packtrain.v1.BatchService/StreamBatches", whose messages are left as
// bytes: parsing them would copy these once more. The generated stub makes its readers in the same way.
// `method` and `context` outlive the stream.
template <typename Request>
std::unique_ptr<RawReader> OpenRawReader(grpc::Channel& channel, grpc::ClientContext& context,
                                         const char* method, const Request& request) {
  return std::unique_ptr<RawReader>(grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
      &channel, grpc::internal::RpcMethod(method, grpc::internal::RpcMethod::SERVER_STREAMING), &context,
      request));
}

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_CHANNEL_H_
