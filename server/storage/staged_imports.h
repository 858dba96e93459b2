// Imports from their beginning to their seal.
#ifndef PACKTRAIN_SERVER_STORAGE_STAGED_IMPORTS_H_
#define PACKTRAIN_SERVER_STORAGE_STAGED_IMPORTS_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "server/limits/memory_budget.h"
#include "server/limits/slots.h"
#include "server/storage/graph_store.h"
#include "server/storage/kept_imports.h"

namespace packtrain::storage {

struct StagedImportsOptions {
  // An import that nobody seals for this long is dropped.
  std::chrono::milliseconds idle_limit = std::chrono::minutes(10);
  // Under way or waiting.
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

  // An import that was staged. Its memory is counted and its slot taken for as long as it lives.
  struct Import {
    limits::Slots::Slot slot;
    limits::MemoryBudget::Reservation memory;
    std::unique_ptr<DatasetWriter> writer;
    std::optional<ImportKey> key = std::nullopt;  // where it has an identity
  };

  // What an import asks for before it begins; the slot must not outlive this object. RESOURCE_EXHAUSTED: as
  // many imports as there may be are under way or wait already.
  absl::StatusOr<limits::Slots::Slot> Begin();
  // Keeps an import and names it, so that nobody guesses the name.
  std::string Add(Import import);
  // Keeps an import that was taken, under the name it had.
  void PutBack(const std::string& id, Import import);
  // Hands an import out. NOT_FOUND: never kept, dropped, or taken.
  absl::StatusOr<Import> Take(const std::string& id);
  // Drops what was added before `now` less the idle limit.
  void DropIdle(Clock::time_point now);
  // Drops the imports of this key, for another client that goes on with one.
  void DropOf(const ImportKey& key);

 private:
  struct Waiting {
    Import import;
    Clock::time_point added;
  };

  // Drops those that `is_due` is true of.
  void DropIf(absl::FunctionRef<bool(const Waiting& waiting)> is_due);
  void DropIdleUntilStopped();
  // Sleeps until some import may have become idle; false when stopping.
  bool AwaitIdle();

  const StagedImportsOptions options_;
  limits::Slots slots_;

  base::CondVar changed_;
  mutable base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Waiting> imports_ ABSL_GUARDED_BY(mutex_);

  std::thread dropper_;
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_STAGED_IMPORTS_H_
