// Answers ServerInfoService.
#ifndef PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_

#include <string>
#include <vector>

#include "packtrain/v1/server_info.grpc.pb.h"
#include "server/serving/memory_account.h"

namespace packtrain::serving {

// Version of the protocol.
inline constexpr char kApi[] = "v1";

// Calls run on gRPC's threads, many at a time.
class ServerInfoService final : public v1::ServerInfoService::Service {
 public:
  // `features` come on top of those of every server. `memory` is borrowed.
  ServerInfoService(v1::Limits limits, std::vector<std::string> features, const MemoryAccount& memory);

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override;

 private:
  const v1::Limits limits_;
  const std::vector<std::string> features_;
  const MemoryAccount& memory_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_
