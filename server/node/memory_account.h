// The bound of a server's memory, and how much of it is in use.
#ifndef PACKTRAIN_SERVER_NODE_MEMORY_ACCOUNT_H_
#define PACKTRAIN_SERVER_NODE_MEMORY_ACCOUNT_H_

#include <cstdint>
#include <memory>

#include "server/batches/resident_datasets.h"
#include "server/limits/memory_meter.h"
#include "server/metrics/server_reading.h"
#include "server/storage/graph_store.h"

namespace packtrain::node {

// The bound, part by part. The sizes of open data sets come on top of the store's caches, and the memory of
// imports under way on top of everything: neither is a cache, so both are counted as they are. Memory that is
// kept for bodies to come is part of the bound, and counts as used only while a body lies in it.
struct MemoryCap {
  std::uint64_t bench_bytes = 0;
  std::uint64_t resident_datasets_bytes = 0;
  std::uint64_t batches_and_plans_bytes = 0;
  // Bodies that are kept for streams a little behind, and unused memory that is kept for bodies to come.
  std::uint64_t kept_bodies_bytes = 0;
  std::uint64_t store_cache_bytes = 0;
};

// Any number of threads may use it.
class MemoryAccount {
 public:
  // `residents` and `store` are borrowed. `memory` counts batches, plans, resident data sets and what the bench
  // sends, `import_memory` imports.
  MemoryAccount(MemoryCap cap, std::shared_ptr<const limits::MemoryMeter> memory,
                std::shared_ptr<const limits::MemoryMeter> import_memory,
                const batches::ResidentDatasets& residents, const storage::GraphStore& store);

  metrics::MemoryReading Read() const;

 private:
  const MemoryCap cap_;
  const std::shared_ptr<const limits::MemoryMeter> memory_;
  const std::shared_ptr<const limits::MemoryMeter> import_memory_;
  const batches::ResidentDatasets& residents_;
  const storage::GraphStore& store_;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_MEMORY_ACCOUNT_H_
