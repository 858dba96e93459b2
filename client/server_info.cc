#include "client/server_info.h"

#include "client/internal/channel.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/server_info.grpc.pb.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {

absl::StatusOr<ServerInfo> GetServerInfo(const Connection& connection) {
  const auto stub = v1::ServerInfoService::NewStub(ChannelOf(connection));
  ABSL_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info,
                        CallMethod(connection.options(), kLookUp, *stub,
                                   &v1::ServerInfoService::Stub::GetServerInfo, v1::GetServerInfoRequest()));
  return ServerInfo{.host_id = info.host_id(), .builders = info.limits().builders()};
}

}  // namespace packtrain::client
