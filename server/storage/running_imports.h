// Imports with an identity whose clients still send, as far as the server knows: so that one that goes on with
// the same import ends them first.
#ifndef PACKTRAIN_SERVER_STORAGE_RUNNING_IMPORTS_H_
#define PACKTRAIN_SERVER_STORAGE_RUNNING_IMPORTS_H_

#include <chrono>
#include <functional>
#include <list>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/mutex.h"
#include "server/storage/kept_imports.h"

namespace packtrain::storage {

// Any number of threads may use it.
class RunningImports {
 public:
  using Clock = std::chrono::steady_clock;
  // Makes an import end soon, with this status. Any thread calls it.
  using End = std::function<void(const absl::Status& why)>;

 private:
  struct Import {
    ImportKey key;
    End end;
  };

 public:
  // The place of an import: it runs for as long as this lives. It must not outlive the RunningImports.
  class Place {
   public:
    Place(RunningImports& owner, ImportKey key, End end);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    RunningImports& owner_;
    std::list<Import>::iterator import_;
  };

  // Ends all of this key with `why`, and waits until they are gone. False: at `deadline` some were not.
  bool EndAll(const ImportKey& key, const absl::Status& why, Clock::time_point deadline);

 private:
  bool IsRunning(const ImportKey& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  base::CondVar changed_;
  base::Mutex mutex_;
  std::list<Import> imports_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_RUNNING_IMPORTS_H_
