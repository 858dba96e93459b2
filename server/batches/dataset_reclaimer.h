// Gives back the space of deleted data sets once nothing pins them.
#ifndef PACKTRAIN_SERVER_BATCHES_DATASET_RECLAIMER_H_
#define PACKTRAIN_SERVER_BATCHES_DATASET_RECLAIMER_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/mutex.h"
#include "server/batches/plan_cache.h"
#include "server/batches/resident_datasets.h"
#include "server/storage/graph_store.h"

namespace packtrain::batches {

// Any number of threads may use it. A thread of its own reclaims what is not pinned any more, and at the
// beginning what a former server left.
class DatasetReclaimer {
 public:
  // Ids of the running runs of NAME@VERSION, each of which pins it. Called by any thread.
  using RunningRuns = std::function<absl::StatusOr<std::vector<std::string>>(std::string_view dataset)>;

  // `store`, `residents` and `plans` are borrowed. While something is pinned the thread looks again after each
  // `interval`.
  DatasetReclaimer(storage::GraphStore& store, RunningRuns running_runs, ResidentDatasets& residents,
                   PlanCache& plans, std::chrono::milliseconds interval = std::chrono::seconds(2));
  ~DatasetReclaimer();
  DatasetReclaimer(const DatasetReclaimer&) = delete;
  DatasetReclaimer& operator=(const DatasetReclaimer&) = delete;

  // What DatasetService.DeleteDataset answers. A dry run deletes nothing. Codes as GraphStore::Delete and
  // `running_runs`.
  absl::StatusOr<v1::DeleteDatasetResponse> Delete(const v1::DeleteDatasetRequest& request);

 private:
  absl::StatusOr<std::vector<v1::Dataset>> Versions(const v1::DeleteDatasetRequest& request);
  // False if the data set is pinned, or if reclaiming failed and is to be tried again.
  bool Reclaim(const std::string& dataset);
  // Reclaims what can be reclaimed; false if something is left.
  bool ReclaimAll();
  void ReclaimUntilStopped();
  // Sleeps until there may be something to reclaim; false when stopping.
  bool AwaitWork(bool something_left);

  storage::GraphStore& store_;
  const RunningRuns running_runs_;
  ResidentDatasets& residents_;
  PlanCache& plans_;
  const std::chrono::milliseconds interval_;

  base::CondVar changed_;
  base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool deleted_ ABSL_GUARDED_BY(mutex_) = false;  // since the thread looked

  std::thread thread_;
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_DATASET_RECLAIMER_H_
