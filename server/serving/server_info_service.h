// Answers ServerInfoService.
#ifndef PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "packtrain/v1/server_info.grpc.pb.h"
#include "server/serving/memory_meter.h"
#include "server/serving/resident_datasets.h"
#include "server/storage/graph_store.h"

namespace packtrain::serving {

// What the server's memory is bounded by, part by part. The sizes of open data sets come on top of the store's
// caches, and what is kept of imports under way on top of all: they are not caches, and are counted as they
// are.
struct MemoryCap {
  std::uint64_t bench_bytes = 0;
  std::uint64_t resident_datasets_bytes = 0;
  std::uint64_t batches_and_plans_bytes = 0;
  std::uint64_t store_cache_bytes = 0;
};

// Calls run on gRPC's threads, many at a time.
class ServerInfoService final : public v1::ServerInfoService::Service {
 public:
  // `features` come on top of those of every server. `residents` and `store` are borrowed. `memory` counts
  // batches, plans, resident data sets and what the bench sends, `import_memory` imports.
  ServerInfoService(v1::Limits limits, std::vector<std::string> features, MemoryCap cap,
                    std::shared_ptr<const MemoryMeter> memory, std::shared_ptr<const MemoryMeter> import_memory,
                    const ResidentDatasets& residents, const storage::GraphStore& store);

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override;

 private:
  const v1::Limits limits_;
  const std::vector<std::string> features_;
  const MemoryCap cap_;
  const std::shared_ptr<const MemoryMeter> memory_;
  const std::shared_ptr<const MemoryMeter> import_memory_;
  const ResidentDatasets& residents_;
  const storage::GraphStore& store_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_SERVER_INFO_SERVICE_H_
