#include "server/serving/server_info_service.h"

#include <algorithm>
#include <utility>

namespace packtrain::serving {
namespace {

constexpr const char* kFeatures[] = {"policy.static", "policy.dynamic", "pad.none",   "pad.multiple",
                                     "pad.pow2",      "pad.constant",   "order.full", "order.none",
                                     "edges.full",    "edges.stored"};

}  // namespace

ServerInfoService::ServerInfoService(v1::Limits limits, MemoryCap cap,
                                     std::shared_ptr<const MemoryMeter> memory,
                                     std::shared_ptr<const MemoryMeter> import_memory,
                                     const storage::GraphStore& store)
    : limits_(std::move(limits)),
      cap_(cap),
      memory_(std::move(memory)),
      import_memory_(std::move(import_memory)),
      store_(store) {}

grpc::Status ServerInfoService::GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                                              v1::GetServerInfoResponse* response) {
  response->set_version(PACKTRAIN_VERSION);
  response->set_api("v1");
  *response->mutable_limits() = limits_;
  const std::uint64_t store_bytes = store_.memory_bytes();
  const std::uint64_t import_bytes = import_memory_->used_bytes();
  response->mutable_memory()->set_cap_bytes(cap_.batches_and_plans_bytes +
                                            std::max(cap_.store_cache_bytes, store_bytes) + import_bytes);
  response->mutable_memory()->set_used_bytes(memory_->used_bytes() + store_bytes + import_bytes);
  for (const char* feature : kFeatures) response->add_features(feature);
  return grpc::Status::OK;
}

}  // namespace packtrain::serving
