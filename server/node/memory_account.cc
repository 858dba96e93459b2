#include "server/node/memory_account.h"

#include <algorithm>
#include <utility>

namespace packtrain::node {

MemoryAccount::MemoryAccount(MemoryCap cap, std::shared_ptr<const limits::MemoryMeter> memory,
                             std::shared_ptr<const limits::MemoryMeter> import_memory,
                             const batches::ResidentDatasets& residents, const storage::GraphStore& store)
    : cap_(cap),
      memory_(std::move(memory)),
      import_memory_(std::move(import_memory)),
      residents_(residents),
      store_(store) {}

metrics::MemoryReading MemoryAccount::Read() const {
  const std::uint64_t store_bytes = store_.memory_bytes();
  const std::uint64_t import_bytes = import_memory_->used_bytes();
  return {.cap_bytes = cap_.bench_bytes + cap_.resident_datasets_bytes + cap_.batches_and_plans_bytes +
                       cap_.kept_bodies_bytes + std::max(cap_.store_cache_bytes, store_bytes) + import_bytes,
          .used_bytes = memory_->used_bytes() + store_bytes + import_bytes,
          .resident_dataset_bytes = residents_.loaded_bytes()};
}

}  // namespace packtrain::node
