#include "server/storage/staged_imports.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/random_hex.h"

namespace packtrain::storage {
StagedImports::StagedImports(StagedImportsOptions options)
    : options_(options), slots_(options.max_imports), dropper_([this] { DropIdleUntilStopped(); }) {}

StagedImports::~StagedImports() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  dropper_.join();
  DropIdle(Clock::time_point::max());  // slots are given back while there is somebody to take them
}

absl::StatusOr<limits::Slots::Slot> StagedImports::Begin() {
  if (std::optional<limits::Slots::Slot> slot = slots_.Take()) return *std::move(slot);
  return base::WithRetryDelay(
      base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                           options_.max_imports,
                           " imports are under way or wait to be sealed, the server's limit; seal them, ",
                           "or wait ", std::chrono::ceil<std::chrono::minutes>(options_.idle_limit).count(),
                           " minutes for the idle ones to be dropped")),
                       "IMPORT_LIMIT", {{"limit", absl::StrCat(options_.max_imports)}}),
      std::chrono::seconds(30));
}

std::string StagedImports::Add(Import import) {
  std::string id = base::RandomHex();
  PutBack(id, std::move(import));
  return id;
}

void StagedImports::PutBack(const std::string& id, Import import) {
  {
    base::MutexLock lock(mutex_);
    imports_.emplace(id, Waiting{std::move(import), Clock::now()});
  }
  changed_.NotifyAll();
}

absl::StatusOr<StagedImports::Import> StagedImports::Take(const std::string& id) {
  base::MutexLock lock(mutex_);
  auto found = imports_.extract(id);
  if (found.empty()) {
    return base::WithReason(
        absl::NotFoundError(absl::StrCat(
            "no import '", id, "': never begun, sealed already, being sealed, or dropped after waiting for ",
            std::chrono::ceil<std::chrono::minutes>(options_.idle_limit).count(), " minutes")),
        "IMPORT_NOT_FOUND", {{"import_id", id}});
  }
  return std::move(found.mapped().import);
}

void StagedImports::DropIdle(Clock::time_point now) {
  DropIf([&](const Waiting& waiting) { return now - waiting.added >= options_.idle_limit; });
}

void StagedImports::DropOf(const ImportKey& key) {
  DropIf([&](const Waiting& waiting) { return waiting.import.key == key; });
}

void StagedImports::DropIf(absl::FunctionRef<bool(const Waiting& waiting)> is_due) {
  std::vector<Waiting> dropped;  // destroyed without the lock: that removes files
  base::MutexLock lock(mutex_);
  for (auto import = imports_.begin(); import != imports_.end();) {
    if (!is_due(import->second)) {
      ++import;
      continue;
    }
    dropped.push_back(std::move(import->second));
    import = imports_.erase(import);
  }
}

void StagedImports::DropIdleUntilStopped() {
  while (AwaitIdle()) DropIdle(Clock::now());
}

bool StagedImports::AwaitIdle() {
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    if (imports_.empty()) {
      changed_.Wait(mutex_);
      continue;
    }
    const auto oldest = std::min_element(imports_.begin(), imports_.end(), [](const auto& a, const auto& b) {
      return a.second.added < b.second.added;
    });
    if (!changed_.WaitUntil(mutex_, oldest->second.added + options_.idle_limit)) return !stopping_;
  }
  return false;
}

}  // namespace packtrain::storage
