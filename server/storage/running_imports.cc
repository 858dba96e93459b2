#include "server/storage/running_imports.h"

#include <algorithm>

namespace packtrain::storage {

RunningImports::Place::Place(RunningImports& owner, ImportKey key, End end) : owner_(owner) {
  const base::MutexLock lock(owner_.mutex_);
  import_ = owner_.imports_.insert(owner_.imports_.end(), {std::move(key), std::move(end)});
}

RunningImports::Place::~Place() {
  {
    const base::MutexLock lock(owner_.mutex_);
    owner_.imports_.erase(import_);
  }
  owner_.changed_.NotifyAll();
}

bool RunningImports::IsRunning(const ImportKey& key) const {
  return std::ranges::any_of(imports_, [&key](const Import& import) { return import.key == key; });
}

bool RunningImports::EndAll(const ImportKey& key, const absl::Status& why, Clock::time_point deadline) {
  const base::MutexLock lock(mutex_);
  for (const Import& import : imports_) {
    if (import.key == key && import.end) import.end(why);
  }
  while (IsRunning(key)) {
    if (!changed_.WaitUntil(mutex_, deadline)) return !IsRunning(key);
  }
  return true;
}

}  // namespace packtrain::storage
