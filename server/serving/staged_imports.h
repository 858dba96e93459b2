// Imports that wait for their seal.
#ifndef PACKTRAIN_SERVER_SERVING_STAGED_IMPORTS_H_
#define PACKTRAIN_SERVER_SERVING_STAGED_IMPORTS_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/mutex.h"
#include "server/storage/graph_store.h"

namespace packtrain::serving {

struct StagedImportsOptions {
  // An import that nobody seals for this long is dropped.
  std::chrono::milliseconds idle_limit = std::chrono::minutes(10);
  std::size_t max_imports = 32;
};

// Any number of threads may use it; a thread of its own drops what has been idle. Destruction drops the rest.
class StagedImports {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StagedImports(StagedImportsOptions options);
  ~StagedImports();
  StagedImports(const StagedImports&) = delete;
  StagedImports& operator=(const StagedImports&) = delete;

  // RESOURCE_EXHAUSTED: as many as there may be wait already. What an import asks before it begins.
  absl::Status CheckRoom() const;
  // Keeps an import and names it, so that nobody guesses the name. Codes as CheckRoom.
  absl::StatusOr<std::string> Add(std::unique_ptr<storage::DatasetWriter> import);
  // Hands an import out, once. NOT_FOUND: never kept, dropped, or taken.
  absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> Take(const std::string& id);
  // Drops what was added before `now` less the idle limit.
  void DropIdle(Clock::time_point now);

 private:
  struct Import {
    std::unique_ptr<storage::DatasetWriter> writer;
    Clock::time_point added;
  };

  absl::Status CheckRoomLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropIdleUntilStopped();
  // Sleeps until some import may have become idle; false when stopping.
  bool AwaitIdle();

  const StagedImportsOptions options_;

  wire::CondVar changed_;
  mutable wire::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Import> imports_ ABSL_GUARDED_BY(mutex_);

  std::thread dropper_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_STAGED_IMPORTS_H_
