#include "server/batches/resident_datasets.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <latch>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/full_name.h"
#include "server/log/event_log.h"
#include "server/storage/record_arena.h"

namespace packtrain::batches {
namespace {

using storage::RecordArena;

bool HasAll(const RecordArena& arena, std::span<const std::uint32_t> graphs) {
  return std::all_of(graphs.begin(), graphs.end(), [&](std::uint32_t graph) { return graph < arena.graphs(); });
}

}  // namespace

// A stored data set that reads from memory once Load has succeeded. Any number of threads may use it, one of
// them may load.
class ResidentDataset final : public storage::Dataset {
 public:
  ResidentDataset(std::shared_ptr<const storage::Dataset> stored, limits::MemoryBudget::Reservation memory)
      : stored_(std::move(stored)), memory_(std::move(memory)) {}

  const v1::Dataset& description() const override { return stored_->description(); }
  std::span<const std::uint32_t> n_node() const override { return stored_->n_node(); }
  std::span<const std::uint32_t> n_edge() const override { return stored_->n_edge(); }
  std::span<const std::uint32_t> bandwidth() const override { return stored_->bandwidth(); }
  absl::StatusOr<std::vector<std::uint32_t>> ReadBandwidthsAsRead(
      std::span<const std::uint32_t> graphs) const override {
    return stored_->ReadBandwidthsAsRead(graphs);
  }
  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override {
    return stored_->Split(name);
  }
  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override {
    const RecordArena* arena = loaded_.load(std::memory_order_acquire);
    if (arena == nullptr || !HasAll(*arena, graphs)) return stored_->ReadRecords(graphs, sink);
    return arena->Read(graphs, sink);
  }
  bool reads_in_order() const override { return loaded(); }
  absl::Status ScanRecords(RecordSink sink) const override { return stored_->ScanRecords(sink); }

  bool loaded() const { return loaded_.load(std::memory_order_acquire) != nullptr; }

  // Called at most once. Codes as RecordArena::Load.
  absl::Status Load(std::stop_token stop) {
    absl::StatusOr<std::unique_ptr<const RecordArena>> arena = RecordArena::Load(*stored_, std::move(stop));
    if (!arena.ok()) {
      memory_ = {};
      return arena.status();
    }
    arena_ = *std::move(arena);
    loaded_.store(arena_.get(), std::memory_order_release);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<const storage::Dataset> stored_;
  limits::MemoryBudget::Reservation memory_;  // these two are Load's
  std::unique_ptr<const RecordArena> arena_;
  std::atomic<const RecordArena*> loaded_ = nullptr;
};

ResidentDatasets::ResidentDatasets(std::uint64_t max_bytes, std::shared_ptr<limits::MemoryBudget> memory)
    : max_bytes_(max_bytes),
      memory_(std::move(memory)),
      cache_(*memory_, limits::MemoryPart::kResidentDatasets, [this](std::uint64_t bytes) { GiveWay(bytes); }) {
}

ResidentDatasets::~ResidentDatasets() { stop_.request_stop(); }

std::shared_ptr<const storage::Dataset> ResidentDatasets::Use(std::shared_ptr<const storage::Dataset> dataset) {
  const std::string name = wire::FullName(dataset->description());
  const std::uint64_t bytes = RecordArena::BytesFor(dataset->description());
  {
    std::vector<Entry> dropped;  // freed after the lock is
    base::MutexLock lock(mutex_);
    if (std::shared_ptr<const storage::Dataset> found = Find(name)) return found;
    if (!MakeRoom(bytes, dropped)) return dataset;
  }
  // Without the lock, because caches are asked to give way.
  std::optional<limits::MemoryBudget::Reservation> memory =
      memory_->TryReserve(limits::MemoryPart::kResidentDatasets, bytes);
  if (!memory.has_value()) return dataset;
  base::MutexLock lock(mutex_);
  if (std::shared_ptr<const storage::Dataset> found = Find(name)) return found;
  const auto resident = std::make_shared<ResidentDataset>(std::move(dataset), *std::move(memory));
  entries_.push_back({name, bytes, resident});
  loader_.Post([this, resident] { Load(resident); });
  return resident;
}

std::shared_ptr<const storage::Dataset> ResidentDatasets::Find(std::string_view name) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.end(), entries_, found);
  return found->dataset;
}

void ResidentDatasets::GiveWay(std::uint64_t bytes) {
  std::list<Entry> dropped;  // freed after the lock is
  base::MutexLock lock(mutex_);
  std::uint64_t freed = 0;
  for (auto entry = entries_.begin(); entry != entries_.end() && freed < bytes;) {
    const auto next = std::next(entry);
    if (entry->dataset.use_count() == 1) {
      freed += entry->bytes;
      dropped.splice(dropped.end(), entries_, entry);
    }
    entry = next;
  }
}

bool ResidentDatasets::MakeRoom(std::uint64_t bytes, std::vector<Entry>& dropped) {
  // Nobody but entries_ can hand out a data set that it alone holds.
  const auto unused = [](const Entry& entry) { return entry.dataset.use_count() == 1; };
  std::uint64_t in_use = 0, kept = 0;
  for (const Entry& entry : entries_) {
    kept += entry.bytes;
    if (!unused(entry)) in_use += entry.bytes;
  }
  if (bytes > max_bytes_ || in_use > max_bytes_ - bytes) return false;
  for (auto entry = entries_.begin(); kept > max_bytes_ - bytes;) {
    if (!unused(*entry)) {
      ++entry;
      continue;
    }
    kept -= entry->bytes;
    dropped.push_back(std::move(*entry));
    entry = entries_.erase(entry);
  }
  return true;
}

void ResidentDatasets::Load(const std::shared_ptr<ResidentDataset>& dataset) {
  const absl::Status status = dataset->Load(stop_.get_token());
  if (status.ok()) return;
  // Whoever reads a corrupt record from the store gets the error; the next Use may find the record repaired.
  Forget(*dataset);
  if (stop_.stop_requested()) return;
  log::Log(log::Level::kWarn, "resident_load_failed",
           {{"dataset", wire::FullName(dataset->description())},
            {"code", absl::StatusCodeToString(status.code())},
            {"message", std::string_view(status.message().data(), status.message().size())}});
}

void ResidentDatasets::Forget(const ResidentDataset& dataset) {
  base::MutexLock lock(mutex_);
  entries_.remove_if([&](const Entry& entry) { return entry.dataset.get() == &dataset; });
}

void ResidentDatasets::Drop(std::string_view name) {
  std::list<Entry> dropped;  // freed after the lock is
  base::MutexLock lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.name == name && entry.dataset.use_count() == 1;
  });
  if (found != entries_.end()) dropped.splice(dropped.end(), entries_, found);
}

std::uint64_t ResidentDatasets::loaded_bytes() const {
  base::MutexLock lock(mutex_);
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.dataset->loaded() ? entry.bytes : 0;
  return bytes;
}

void ResidentDatasets::AwaitLoads() {
  std::latch done(1);
  loader_.Post([&done] { done.count_down(); });
  done.wait();
}

}  // namespace packtrain::batches
