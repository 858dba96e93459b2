#include "server/storage/staging_queue.h"

#include <exception>
#include <functional>
#include <system_error>

#include "proto/base/status_macros.h"
#include "server/limits/guarded.h"

namespace packtrain::storage {
namespace {

// In one chunk: fewer than fit, as records have headers.
constexpr std::size_t kMaxRecords = (32 << 10) / sizeof(std::uint32_t);
constexpr std::size_t kChunks = StagingQueue::kMaxBytes / (StagingQueue::kChunkBytes + (32 << 10));

}  // namespace

StagingQueue::~StagingQueue() {
  {
    const base::MutexLock lock(mutex_);
    failure_.Update(absl::CancelledError("nobody wants what is staged"));
  }
  EndThread();
}

absl::Status StagingQueue::Add(std::span<const std::byte> record) {
  if (!HasRoom(record.size()) && !filling_.sizes.empty()) {
    ABSL_RETURN_IF_ERROR(Push());
  }
  const auto size = static_cast<std::uint32_t>(record.size());
  if (size > kChunkBytes) {  // is not copied
    ABSL_RETURN_IF_ERROR(AwaitWritten());
    note_(record);
    return FirstFailure(write_(record, std::span(&size, 1)));
  }
  filling_.records.reserve(kChunkBytes);
  filling_.sizes.reserve(kMaxRecords);
  filling_.records.append(reinterpret_cast<const char*>(record.data()), size);
  filling_.sizes.push_back(size);
  return absl::OkStatus();
}

bool StagingQueue::HasRoom(std::size_t record_bytes) const {
  return filling_.records.size() + record_bytes <= kChunkBytes && filling_.sizes.size() < kMaxRecords;
}

void StagingQueue::Then(Task task) {
  filling_.task = std::move(task);
  Push().IgnoreError();  // as what comes next will fail
}

absl::Status StagingQueue::AwaitTasks() {
  const base::MutexLock lock(mutex_);
  while (tasks_ > 0) changed_.Wait(mutex_);
  return failure_;
}

bool StagingQueue::HoldsRecords() const {
  const base::MutexLock lock(mutex_);
  return unwritten_ > 0 || !filling_.sizes.empty();
}

absl::Status StagingQueue::Drain() {
  if (!thread_.joinable()) return WriteHere();
  ABSL_RETURN_IF_ERROR(Push());
  ABSL_RETURN_IF_ERROR(AwaitWritten());
  ABSL_RETURN_IF_ERROR(AwaitTasks());
  EndThread();
  return absl::OkStatus();
}

absl::Status StagingQueue::Push() {
  if (!StartThread()) return WriteHere();
  note_(std::as_bytes(std::span(filling_.records)));
  const base::MutexLock lock(mutex_);
  ++unwritten_;
  if (filling_.task != nullptr) ++tasks_;
  full_.push_back(std::exchange(filling_, {}));
  changed_.NotifyAll();
  while (unwritten_ == kChunks) changed_.Wait(mutex_);
  if (!empty_.empty()) {
    filling_ = std::move(empty_.back());
    empty_.pop_back();
  }
  return failure_;
}

absl::Status StagingQueue::WriteHere() {
  {
    const base::MutexLock lock(mutex_);
    ABSL_RETURN_IF_ERROR(failure_);
  }
  note_(std::as_bytes(std::span(filling_.records)));
  const absl::StatusOr<Rest> rest = WriteChunk(std::exchange(filling_, {}));
  return FirstFailure(rest.ok() && *rest != nullptr ? limits::Guarded(std::ref(*rest)) : rest.status());
}

absl::StatusOr<StagingQueue::Rest> StagingQueue::WriteChunk(const Chunk& chunk) const {
  return limits::Guarded([&]() -> absl::StatusOr<Rest> {
    if (!chunk.sizes.empty()) {
      ABSL_RETURN_IF_ERROR(write_(std::as_bytes(std::span(chunk.records)), chunk.sizes));
    }
    return chunk.task == nullptr ? Rest() : chunk.task();
  });
}

absl::Status StagingQueue::FirstFailure(const absl::Status& written) {
  const base::MutexLock lock(mutex_);
  failure_.Update(written);
  return failure_;
}

bool StagingQueue::StartThread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void StagingQueue::EndThread() {
  if (!thread_.joinable()) return;
  {
    const base::MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  const base::MutexLock lock(mutex_);
  ending_ = false;
  empty_.clear();
}

absl::Status StagingQueue::AwaitWritten() {
  const base::MutexLock lock(mutex_);
  while (unwritten_ > 0) changed_.Wait(mutex_);
  return failure_;
}

void StagingQueue::Work() {
  std::jthread third;
  while (std::optional<Chunk> chunk = Take()) {
    if (chunk->task != nullptr && third.joinable()) third.join();
    DropIfFailed(*chunk);
    const absl::StatusOr<Rest> rest = WriteChunk(*chunk);
    const bool has_rest = rest.ok() && *rest != nullptr;
    Return(*std::move(chunk), rest.status(), has_rest);
    if (has_rest) third = StartRest(*rest);
  }
}

std::jthread StagingQueue::StartRest(const Rest& rest) {
  try {
    return std::jthread([this, rest] { DoRest(rest); });
  } catch (const std::exception&) {
    DoRest(rest);
    return {};
  }
}

void StagingQueue::DoRest(const Rest& rest) {
  const absl::Status done = limits::Guarded(std::ref(rest));
  const base::MutexLock lock(mutex_);
  failure_.Update(done);
  --tasks_;
  changed_.NotifyAll();
}

std::optional<StagingQueue::Chunk> StagingQueue::Take() {
  const base::MutexLock lock(mutex_);
  while (full_.empty() && !ending_) changed_.Wait(mutex_);
  if (full_.empty()) return std::nullopt;
  std::optional<Chunk> chunk = std::move(full_.front());
  full_.pop_front();
  return chunk;
}

void StagingQueue::DropIfFailed(Chunk& chunk) {
  const base::MutexLock lock(mutex_);
  if (failure_.ok()) return;
  chunk.sizes.clear();
  if (std::exchange(chunk.task, nullptr) != nullptr) --tasks_;
}

void StagingQueue::Return(Chunk chunk, const absl::Status& written, bool has_rest) {
  chunk.records.clear();
  chunk.sizes.clear();
  const bool had_task = std::exchange(chunk.task, nullptr) != nullptr;
  const base::MutexLock lock(mutex_);
  failure_.Update(written);
  --unwritten_;
  if (had_task && !has_rest) --tasks_;
  empty_.push_back(std::move(chunk));
  changed_.NotifyAll();
}

}  // namespace packtrain::storage
