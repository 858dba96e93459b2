// Gives back the space of deleted data sets once nothing pins them.
#ifndef PACKTRAIN_SERVER_SERVING_DATASET_RECLAIMER_H_
#define PACKTRAIN_SERVER_SERVING_DATASET_RECLAIMER_H_

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/mutex.h"
#include "server/batches/plan_cache.h"
#include "server/batches/resident_datasets.h"
#include "server/runs/run_store.h"
#include "server/storage/graph_store.h"

namespace packtrain::serving {

// Any number of threads may use it; a thread of its own looks after what is still pinned, and at the beginning
// after what a former server left.
class DatasetReclaimer {
 public:
  // All of them are borrowed. While something is pinned the thread looks again after each `interval`.
  DatasetReclaimer(storage::GraphStore& store, const runs::RunStore& runs, batches::ResidentDatasets& residents,
                   batches::PlanCache& plans, std::chrono::milliseconds interval = std::chrono::seconds(2));
  ~DatasetReclaimer();
  DatasetReclaimer(const DatasetReclaimer&) = delete;
  DatasetReclaimer& operator=(const DatasetReclaimer&) = delete;

  // What DatasetService.DeleteDataset answers. A dry run deletes nothing. Codes as GraphStore::Delete and
  // RunStore::ListAfter.
  absl::StatusOr<v1::DeleteDatasetResponse> Delete(const v1::DeleteDatasetRequest& request);

 private:
  absl::StatusOr<std::vector<v1::Dataset>> Versions(const v1::DeleteDatasetRequest& request);
  // Ids of the running runs of NAME@VERSION.
  absl::StatusOr<std::vector<std::string>> RunningRuns(std::string_view dataset) const;
  // False where it is pinned, or failed and is to be tried again.
  bool Reclaim(const std::string& dataset);
  // Reclaims what can be; false where something is left.
  bool ReclaimAll();
  void ReclaimUntilStopped();
  // Sleeps until there may be something to reclaim; false when stopping.
  bool AwaitWork(bool something_left);

  storage::GraphStore& store_;
  const runs::RunStore& runs_;
  batches::ResidentDatasets& residents_;
  batches::PlanCache& plans_;
  const std::chrono::milliseconds interval_;

  base::CondVar changed_;
  base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool deleted_ ABSL_GUARDED_BY(mutex_) = false;  // since the thread looked

  std::thread thread_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_DATASET_RECLAIMER_H_
