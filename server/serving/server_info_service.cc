#include "server/serving/server_info_service.h"

#include <utility>

#include "proto/base/host_id.h"
#include "server/metrics/process_reading.h"

namespace packtrain::serving {
namespace {

constexpr const char* kFeatures[] = {
    "policy.static", "policy.dynamic", "policy.packed", "policy.tuple",     "policy.supergraph",
    "pad.none",      "pad.multiple",   "pad.pow2",      "pad.constant",     "pad.ladder",
    "order.full",    "order.none",     "order.window",  "edges.full",       "edges.stored",
    "edges.radius",  "edges.knn",      "renumber.rcm",  "skip_above.nodes", "skip_above.bandwidth"};

}  // namespace

ServerInfoService::ServerInfoService(CallBounds& bounds, v1::Limits limits, std::vector<std::string> features,
                                     std::function<metrics::MemoryReading()> memory,
                                     std::function<metrics::DiskReading()> disk)
    : PackedService(bounds),
      limits_(std::move(limits)),
      features_(std::move(features)),
      memory_(std::move(memory)),
      disk_(std::move(disk)) {
  Bound(&ServerInfoService::GetServerInfo, {});
}

grpc::Status ServerInfoService::GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                                              v1::GetServerInfoResponse* response) {
  response->set_version(PACKTRAIN_VERSION);
  response->set_api(kApi);
  response->set_host_id(base::HostId());
  response->set_process_id(process_id_);
  *response->mutable_limits() = limits_;
  const metrics::MemoryReading read = memory_();
  v1::MemoryUse& memory = *response->mutable_memory();
  memory.set_cap_bytes(read.cap_bytes);
  memory.set_used_bytes(read.used_bytes);
  memory.set_resident_dataset_bytes(read.resident_dataset_bytes);
  for (const metrics::MemoryPartReading& part : read.parts) {
    v1::MemoryPart& sent = *memory.add_parts();
    sent.set_name(part.name);
    sent.set_cap_bytes(part.cap_bytes);
    sent.set_used_bytes(part.used_bytes);
  }
  memory.set_process_rss_bytes(metrics::ReadProcess().resident_bytes);
  const metrics::DiskReading disk = disk_();
  response->mutable_disk()->set_kept_imports(disk.kept_imports);
  response->mutable_disk()->set_kept_import_bytes(disk.kept_import_bytes);
  for (const char* feature : kFeatures) response->add_features(feature);
  for (const std::string& feature : features_) response->add_features(feature);
  return grpc::Status::OK;
}

}  // namespace packtrain::serving
