#include "server/batches/dataset_reclaimer.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/log/event_log.h"

namespace packtrain::batches {

DatasetReclaimer::DatasetReclaimer(storage::GraphStore& store, RunningRuns running_runs,
                                   ResidentDatasets& residents, PlanCache& plans,
                                   std::chrono::milliseconds interval)
    : store_(store),
      running_runs_(std::move(running_runs)),
      residents_(residents),
      plans_(plans),
      interval_(interval),
      thread_([this] { ReclaimUntilStopped(); }) {}

DatasetReclaimer::~DatasetReclaimer() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

absl::StatusOr<v1::DeleteDatasetResponse> DatasetReclaimer::Delete(const v1::DeleteDatasetRequest& request) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<v1::Dataset> versions, Versions(request));
  v1::DeleteDatasetResponse response;
  for (const v1::Dataset& version : versions) {
    v1::DeletedVersion& deleted = *response.add_versions();
    deleted.set_dataset(wire::FullName(version));
    if (!request.dry_run()) log::Log(log::Level::kInfo, "dataset_deleted", {{"dataset", deleted.dataset()}});
    deleted.set_graphs(version.graphs());
    deleted.set_bytes(version.bytes());
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> running, running_runs_(deleted.dataset()));
    deleted.mutable_running_runs()->Add(running.begin(), running.end());
    deleted.set_reclaimed(!request.dry_run() && Reclaim(deleted.dataset()));
  }
  const std::string& name = versions.front().name();
  ABSL_RETURN_IF_ERROR(store_.ListAfter("", [&](const v1::Dataset& dataset) {
    if (dataset.name() == name) response.set_current_version(dataset.version());
    return dataset.name() < name;
  }));
  const base::MutexLock lock(mutex_);
  deleted_ = true;
  changed_.NotifyAll();
  return response;
}

absl::StatusOr<std::vector<v1::Dataset>> DatasetReclaimer::Versions(const v1::DeleteDatasetRequest& request) {
  if (!request.dry_run()) return store_.Delete(request.dataset());
  std::vector<v1::Dataset> versions = store_.Lost(request.dataset());
  const absl::StatusOr<std::vector<v1::Dataset>> stored = store_.Versions(request.dataset());
  if (!stored.ok() && (versions.empty() || !absl::IsNotFound(stored.status()))) return stored.status();
  if (stored.ok()) versions.insert(versions.end(), stored->begin(), stored->end());
  return versions;
}

bool DatasetReclaimer::Reclaim(const std::string& dataset) {
  const absl::StatusOr<std::vector<std::string>> running = running_runs_(dataset);
  if (!running.ok() || !running->empty()) return false;
  plans_.Drop(dataset);
  residents_.Drop(dataset);
  const absl::Status status = store_.Reclaim(dataset);
  if (status.ok()) log::Log(log::Level::kInfo, "dataset_reclaimed", {{"dataset", dataset}});
  if (!status.ok() && !absl::IsFailedPrecondition(status)) {
    log::Log(log::Level::kError, "dataset_not_reclaimed",
             {{"dataset", dataset},
              {"message", std::string_view(status.message().data(), status.message().size())}});
  }
  return status.ok();
}

bool DatasetReclaimer::ReclaimAll() {
  const absl::StatusOr<std::vector<std::string>> deleted = store_.Deleted();
  if (!deleted.ok()) return false;
  const auto left = std::count_if(deleted->begin(), deleted->end(),
                                  [this](const std::string& dataset) { return !Reclaim(dataset); });
  return left == 0;
}

void DatasetReclaimer::ReclaimUntilStopped() {
  while (AwaitWork(!ReclaimAll())) {
  }
}

bool DatasetReclaimer::AwaitWork(bool something_left) {
  const base::MutexLock lock(mutex_);
  if (something_left && !stopping_ && !deleted_)
    changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + interval_);
  while (!something_left && !stopping_ && !deleted_) changed_.Wait(mutex_);
  deleted_ = false;
  return !stopping_;
}

}  // namespace packtrain::batches
