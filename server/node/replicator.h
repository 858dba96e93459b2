// Copies the data sets of another server, the primary.
#ifndef PACKTRAIN_SERVER_NODE_REPLICATOR_H_
#define PACKTRAIN_SERVER_NODE_REPLICATOR_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "proto/base/mutex.h"
#include "server/limits/memory_budget.h"
#include "server/storage/graph_store.h"

namespace packtrain::node {

struct ReplicatorOptions {
  std::string primary;     // HOST:PORT or unix:PATH
  std::string process_id;  // of the server that follows, as its GetServerInfo gives it
  std::uint32_t max_message_bytes = std::uint32_t{64} << 20;
  // The time between two looks at what the primary has.
  std::chrono::milliseconds interval{1'000};
  // The longest wait after failures. The wait doubles up to it, and is drawn from the upper half.
  std::chrono::milliseconds max_back_off{30'000};
};

// A thread of its own copies every version that the store lacks, checks that the copy has the same version
// before anybody sees it, and makes each name mean the version that it means at the primary. What the primary
// deletes stays here. While the primary cannot be reached, the store is as it was, and a copy that was broken
// off goes on where it was, however long it takes; one that finds the disk full at its seal waits there for
// space. No copy is begun for which the disk has no room, and none from this process itself.
class Replicator {
  class Copy;

 public:
  // `store` is borrowed; `memory` counts what a copy under way holds.
  Replicator(storage::GraphStore& store, std::shared_ptr<limits::MemoryBudget> memory,
             ReplicatorOptions options);
  // Ends a copy under way, of which nothing is left.
  ~Replicator();
  Replicator(const Replicator&) = delete;
  Replicator& operator=(const Replicator&) = delete;

 private:
  using Take = std::function<absl::Status(v1::Dataset& dataset)>;

  void FollowUntilStopped();
  // False when stopping.
  bool Sleep(std::chrono::milliseconds duration);
  std::chrono::milliseconds BackOff();
  // Logs when following fails with another code than before, and when it succeeds again.
  void LogChange(const absl::Status& status);

  // Looks once at what the primary has, and copies what is missing.
  absl::Status Follow();
  // FAILED_PRECONDITION: the primary is this process.
  absl::Status CheckPrimary();
  absl::Status ListDatasets(bool all_versions, const Take& take);
  // With the copy that was broken off, where there is one.
  absl::Status GoOn();
  absl::Status PullIfMissing(const v1::Dataset& dataset);
  absl::Status Pull(const v1::Dataset& dataset);
  // One call that goes on with copy_.
  absl::Status Receive();
  absl::Status FollowNames();

  // Makes one call that the destructor cancels.
  absl::Status Call(std::chrono::milliseconds deadline,
                    const std::function<grpc::Status(grpc::ClientContext& context)>& call);

  storage::GraphStore& store_;
  const std::shared_ptr<limits::MemoryBudget> memory_;
  const ReplicatorOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::DatasetService::Stub> stub_;
  // These are the thread's.
  std::mt19937_64 random_;
  std::chrono::milliseconds back_off_{0};
  absl::StatusCode followed_ = absl::StatusCode::kOk;  // what the last look came to
  bool primary_checked_ = false;                       // since following failed last
  std::unique_ptr<Copy> copy_;                         // under way or broken off; null: there is none

  base::CondVar changed_;
  base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;  // of the call under way

  std::thread thread_;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_REPLICATOR_H_
