// Data sets whose records are kept in memory, as far as there is room.
#ifndef PACKTRAIN_SERVER_BATCHES_RESIDENT_DATASETS_H_
#define PACKTRAIN_SERVER_BATCHES_RESIDENT_DATASETS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/mutex.h"
#include "server/batches/worker_pool.h"
#include "server/limits/memory_budget.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

class ResidentDataset;

// A data set in use is never dropped; of the others the least recently used goes first. Any number of threads
// may use it.
class ResidentDatasets {
 public:
  // Of `memory` at most `max_bytes` are taken; data sets that nobody uses give way where others need it.
  ResidentDatasets(std::uint64_t max_bytes, std::shared_ptr<limits::MemoryBudget> memory);
  // Gives up what is being loaded. The data sets that Use returned may live on, and read from the store if
  // their records had not been loaded.
  ~ResidentDatasets();

  // A data set that reads as `dataset` does. Its records are loaded into memory in the background, once, and
  // stay there while anybody holds the result. Until they are loaded, and if they cannot all be read, reads go
  // to `dataset`. The result is `dataset` itself if its records do not fit beside those in use. Never blocks on
  // a load.
  std::shared_ptr<const storage::Dataset> Use(std::shared_ptr<const storage::Dataset> dataset);

  // Drops a data set, NAME@VERSION, that nobody uses.
  void Drop(std::string_view name);

  // Bytes of the data sets that are in memory as a whole.
  std::uint64_t loaded_bytes() const;

  // Waits until every load that Use has begun has succeeded or failed.
  void AwaitLoads();

 private:
  struct Entry {
    std::string name;  // NAME@VERSION
    std::uint64_t bytes = 0;
    std::shared_ptr<ResidentDataset> dataset;
  };

  // Drops data sets that nobody uses, the least recently used first, until `bytes` are free.
  void GiveWay(std::uint64_t bytes);
  // Moves data sets that nobody uses from entries_ to `dropped` until `bytes` fit. Where they cannot, moves
  // none and returns false.
  bool MakeRoom(std::uint64_t bytes, std::vector<Entry>& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<const storage::Dataset> Find(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Load(const std::shared_ptr<ResidentDataset>& dataset);
  void Forget(const ResidentDataset& dataset);

  const std::uint64_t max_bytes_;
  const std::shared_ptr<limits::MemoryBudget> memory_;
  std::stop_source stop_;

  mutable base::Mutex mutex_;
  // Least recently used first.
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);

  const limits::MemoryBudget::Cache cache_;

  // A thread of its own, so that no batch waits for a scan; last, as its tasks use the rest.
  WorkerPool loader_{1};
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_RESIDENT_DATASETS_H_
