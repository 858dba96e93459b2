#include "server/serving/staged_imports.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace packtrain::serving {
namespace {

// 128 bits from the system's generator.
std::string NewImportId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&id, absl::Hex(std::uint32_t{random()}, absl::kZeroPad8));
  return id;
}

}  // namespace

StagedImports::StagedImports(StagedImportsOptions options)
    : options_(options), dropper_([this] { DropIdleUntilStopped(); }) {}

StagedImports::~StagedImports() {
  {
    wire::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  dropper_.join();
}

absl::Status StagedImports::CheckRoom() const {
  wire::MutexLock lock(mutex_);
  return CheckRoomLocked();
}

absl::Status StagedImports::CheckRoomLocked() const {
  if (imports_.size() < options_.max_imports) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(imports_.size(), " imports wait to be sealed, the server's limit; seal them, or wait ",
                   std::chrono::ceil<std::chrono::minutes>(options_.idle_limit).count(),
                   " minutes for the idle ones to be dropped"));
}

absl::StatusOr<std::string> StagedImports::Add(std::unique_ptr<storage::DatasetWriter> import) {
  std::string id = NewImportId();
  {
    wire::MutexLock lock(mutex_);
    if (absl::Status status = CheckRoomLocked(); !status.ok()) return status;
    imports_.emplace(id, Import{std::move(import), Clock::now()});
  }
  changed_.NotifyAll();
  return id;
}

absl::StatusOr<std::unique_ptr<storage::DatasetWriter>> StagedImports::Take(const std::string& id) {
  wire::MutexLock lock(mutex_);
  const auto found = imports_.find(id);
  if (found == imports_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no import '", id, "': never begun, sealed already, or dropped after waiting for ",
                     std::chrono::ceil<std::chrono::minutes>(options_.idle_limit).count(), " minutes"));
  }
  std::unique_ptr<storage::DatasetWriter> writer = std::move(found->second.writer);
  imports_.erase(found);
  return writer;
}

void StagedImports::DropIdle(Clock::time_point now) {
  std::vector<Import> dropped;  // destroyed without the lock: that removes files
  wire::MutexLock lock(mutex_);
  for (auto import = imports_.begin(); import != imports_.end();) {
    if (now - import->second.added < options_.idle_limit) {
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
  wire::MutexLock lock(mutex_);
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

}  // namespace packtrain::serving
