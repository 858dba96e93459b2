// Answers ServerInfoService.
#ifndef PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_

#include <functional>
#include <string>
#include <vector>

#include "packtrain/v1/server_info.grpc.pb.h"
#include "proto/base/random_hex.h"
#include "server/metrics/server_reading.h"
#include "server/serving/packed_call.h"

namespace packtrain::serving {

// Version of the protocol.
inline constexpr char kApi[] = "v1";

// Calls run on gRPC's threads, many at a time.
class ServerInfoService final : public PackedService<v1::ServerInfoService> {
 public:
  // `features` come on top of those of every server. `memory` and `disk` say how much is in use; any thread
  // calls them. `bounds` is borrowed.
  ServerInfoService(CallBounds& bounds, v1::Limits limits, std::vector<std::string> features,
                    std::function<metrics::MemoryReading()> memory, std::function<metrics::DiskReading()> disk);

  // As in the answer.
  const std::string& process_id() const { return process_id_; }

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override;

 private:
  const v1::Limits limits_;
  const std::vector<std::string> features_;
  const std::function<metrics::MemoryReading()> memory_;
  const std::function<metrics::DiskReading()> disk_;
  const std::string process_id_ = base::RandomHex();
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_
