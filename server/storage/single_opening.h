// Objects that are opened by name: one for each name at a time, however many ask for it at one moment.
//
//   SingleOpening<RocksDataset> open;
//   ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<const RocksDataset> dataset, open.Get("qm9@1f", load));
#ifndef PACKTRAIN_SERVER_STORAGE_SINGLE_OPENING_H_
#define PACKTRAIN_SERVER_STORAGE_SINGLE_OPENING_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/mutex.h"

namespace packtrain::storage {

// An object is known from the beginning of its opening until its last holder has let go of it, so whoever
// closes a name (Close) knows that nobody has its object. Any number of threads may use it.
template <typename T>
class SingleOpening {
 public:
  using Result = absl::StatusOr<std::shared_ptr<const T>>;

  // The object of a name: the one that somebody holds, the one that another thread is opening, for which this
  // call waits and whose failure it shares, or else what `open` returns, which is called without a lock.
  // NOT_FOUND: the name is closed.
  Result Get(const std::string& name, absl::FunctionRef<Result()> open) {
    std::shared_ptr<Opening> opening;
    {
      const base::MutexLock lock(mutex_);
      Entry& entry = entries_[name];
      if (entry.closed) return absl::NotFoundError(absl::StrCat(name, " is being reclaimed"));
      if (auto object = entry.object.lock()) return object;
      if (entry.opening != nullptr) return Await(entry.opening);
      opening = entry.opening = std::make_shared<Opening>();
    }
    return Publish(name, *opening, open());
  }

  // Keeps a name from being opened until Reopen. FAILED_PRECONDITION: somebody has its object, or is opening
  // it.
  absl::Status Close(const std::string& name) {
    const base::MutexLock lock(mutex_);
    Entry& entry = entries_[name];
    if (entry.opening != nullptr || !entry.object.expired()) {
      return absl::FailedPreconditionError(absl::StrCat("data set ", name, " is in use"));
    }
    entry.closed = true;
    return absl::OkStatus();
  }
  void Reopen(const std::string& name) {
    const base::MutexLock lock(mutex_);
    entries_.erase(name);
  }

  // What somebody holds.
  std::vector<std::shared_ptr<const T>> Held() const {
    std::vector<std::shared_ptr<const T>> held;
    const base::MutexLock lock(mutex_);
    for (const auto& [name, entry] : entries_) {
      if (auto object = entry.object.lock()) held.push_back(std::move(object));
    }
    return held;
  }

 private:
  // One call of `open`, and those that wait for it.
  struct Opening {
    std::optional<Result> result;  // guarded by mutex_
  };
  struct Entry {
    std::weak_ptr<const T> object;
    std::shared_ptr<Opening> opening;  // null: nobody is opening it
    bool closed = false;
  };

  Result Await(const std::shared_ptr<Opening> opening) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (!opening->result.has_value()) opened_.Wait(mutex_);
    return *opening->result;
  }

  Result Publish(const std::string& name, Opening& opening, Result result) {
    const base::MutexLock lock(mutex_);
    Entry& entry = entries_[name];
    if (result.ok()) entry.object = *result;
    entry.opening = nullptr;
    opening.result = result;
    if (!result.ok()) entries_.erase(name);
    opened_.NotifyAll();
    return result;
  }

  mutable base::Mutex mutex_;
  base::CondVar opened_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_SINGLE_OPENING_H_
