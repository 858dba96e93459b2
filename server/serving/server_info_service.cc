#include "server/serving/server_info_service.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace packtrain::serving {
namespace {

// The second number of /proc/self/statm is the resident set, in pages; 0 where the system has no such file.
std::uint64_t ProcessRssBytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size_pages = 0, resident_pages = 0;
  file >> size_pages >> resident_pages;
  return file ? resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

constexpr const char* kFeatures[] = {"policy.static", "policy.dynamic", "policy.packed", "policy.tuple",
                                     "pad.none",      "pad.multiple",   "pad.pow2",      "pad.constant",
                                     "pad.ladder",    "order.full",     "order.none",    "order.window",
                                     "edges.full",    "edges.stored",   "edges.radius",  "edges.knn"};

}  // namespace

ServerInfoService::ServerInfoService(v1::Limits limits, std::vector<std::string> features, MemoryCap cap,
                                     std::shared_ptr<const MemoryMeter> memory,
                                     std::shared_ptr<const MemoryMeter> import_memory,
                                     const ResidentDatasets& residents, const storage::GraphStore& store)
    : limits_(std::move(limits)),
      features_(std::move(features)),
      cap_(cap),
      memory_(std::move(memory)),
      import_memory_(std::move(import_memory)),
      residents_(residents),
      store_(store) {}

grpc::Status ServerInfoService::GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*,
                                              v1::GetServerInfoResponse* response) {
  response->set_version(PACKTRAIN_VERSION);
  response->set_api("v1");
  *response->mutable_limits() = limits_;
  const std::uint64_t store_bytes = store_.memory_bytes();
  const std::uint64_t import_bytes = import_memory_->used_bytes();
  v1::MemoryUse& memory = *response->mutable_memory();
  memory.set_cap_bytes(cap_.bench_bytes + cap_.resident_datasets_bytes + cap_.batches_and_plans_bytes +
                       std::max(cap_.store_cache_bytes, store_bytes) + import_bytes);
  memory.set_used_bytes(memory_->used_bytes() + store_bytes + import_bytes);
  memory.set_resident_dataset_bytes(residents_.loaded_bytes());
  memory.set_process_rss_bytes(ProcessRssBytes());
  for (const char* feature : kFeatures) response->add_features(feature);
  for (const std::string& feature : features_) response->add_features(feature);
  return grpc::Status::OK;
}

}  // namespace packtrain::serving
